// The server's life: one at a time, started and ended as often as asked.
import type { ChildProcess } from "node:child_process";
import * as vscode from "vscode";
import { LanguageClient, State } from "vscode-languageclient/node";
import { makeClient } from "./client";
import type { Interpreters } from "./interpreter";
import { launchOf, NoPythonError } from "./launch";
import { OneAtATime } from "./oneAtATime";
import { STATUS, type Status, type StatusItem } from "./status";
import type { GraphViews, Session } from "./types";

/** Milliseconds that a server has to answer shutdown, and again to end; then it is killed. */
const SHUTDOWN_LIMIT = 3000;

export class ServerSession implements Session {
  client: LanguageClient | undefined;
  /** What the server reported last; undefined while there is none. */
  lastStatus: Status | undefined;
  graphs: GraphViews | undefined;
  private readonly starts = new OneAtATime(() => this.startAnew());
  private isOver = false;

  constructor(
    private readonly context: vscode.ExtensionContext,
    readonly log: vscode.LogOutputChannel,
    private readonly interpreters: Interpreters,
    private readonly status: StatusItem,
  ) {}

  /** Ends the server, if there is one, and starts another. However often it is asked for meanwhile, that is done once more. */
  restart(): Promise<void> {
    return this.starts.run();
  }

  /** Ends the server for good. */
  async stop(): Promise<void> {
    this.isOver = true;
    await this.starts.settled();
    await this.end();
  }

  /** Tells the server that settings, or the interpreter, have changed. */
  async sendSettings(): Promise<void> {
    if (this.client?.state === State.Running) {
      await this.client.sendNotification("workspace/didChangeConfiguration", { settings: null });
    }
  }

  private async startAnew(): Promise<void> {
    await this.end();
    if (this.isOver) return;
    this.status.starting();
    try {
      const launch = await launchOf(this.context, this.log, this.interpreters);
      this.log.info(`server: ${launch.command} ${launch.args.join(" ")}`);
      const client = makeClient(launch, this, this.interpreters);
      this.client = client;
      client.onDidChangeState(({ newState }) => {
        this.stateChanged(client, newState);
      });
      client.onNotification(STATUS, (status: Status) => {
        this.statusReported(status);
      });
      await client.start();
    } catch (error) {
      this.failed(error);
    }
  }

  private async end(): Promise<void> {
    const { client } = this;
    this.client = undefined;
    if (client === undefined) return;
    const { serverProcess } = client;
    try {
      await client.dispose(SHUTDOWN_LIMIT);
    } catch (error) {
      this.log.warn(`the server did not end in time: ${String(error)}`);
    }
    if (serverProcess !== undefined) await ended(serverProcess);
  }

  private stateChanged(client: LanguageClient, state: State): void {
    if (client !== this.client && this.client !== undefined) return;
    const isRunning = state === State.Running;
    void vscode.commands.executeCommand("setContext", "fxlsp.running", isRunning);
    if (state === State.Starting) this.status.starting();
    if (!isRunning) this.lastStatus = undefined;
    if (state === State.Stopped || state === State.StartFailed) this.status.stopped();
  }

  private statusReported(status: Status): void {
    this.lastStatus = status;
    this.status.show(status);
    void vscode.commands.executeCommand(
      "setContext",
      "fxlsp.knowsTorch",
      status.interpreters.some(({ torch }) => torch !== null),
    );
    this.graphs?.sessionChanged(status);
  }

  private failed(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    this.log.error(`the server could not be started: ${reason}`);
    this.status.stopped(reason);
    const settings = "Open Settings";
    const words = error instanceof NoPythonError ? reason : `The server of fxlsp could not be started: ${reason}`;
    void vscode.window.showErrorMessage(words, "Show the Log", settings).then((picked) => {
      if (picked === settings) {
        void vscode.commands.executeCommand("workbench.action.openSettings", "fxlsp.server");
      } else if (picked !== undefined) {
        this.log.show();
      }
    });
  }
}

/** Waits for the end of a process, and brings it about after a while. The tracing processes end with their pipes. */
async function ended(process: ChildProcess): Promise<void> {
  if (process.exitCode !== null || process.signalCode !== null) return;
  const end = new Promise((resolve) => process.once("exit", resolve));
  const timer = setTimeout(() => process.kill("SIGKILL"), SHUTDOWN_LIMIT);
  await end;
  clearTimeout(timer);
}
