// What happens when a Python file is opened for the first time.
import * as vscode from "vscode";
import { showDebugInformation } from "./debugInformation";
import { Graphs } from "./graph";
import { Interpreters } from "./interpreter";
import { ServerSession } from "./session";
import { StatusItem } from "./status";

let session: ServerSession | undefined;

export function activate(context: vscode.ExtensionContext): void {
  const log = vscode.window.createOutputChannel("fxlsp", { log: true });
  const interpreters = new Interpreters(log);
  const status = new StatusItem();
  const current = new ServerSession(context, log, interpreters, status);
  const graphs = new Graphs(current);
  current.graphs = graphs;
  session = current;
  context.subscriptions.push(
    log,
    interpreters,
    status,
    graphs,
    vscode.commands.registerCommand("fxlsp.restartServer", () => current.restart()),
    vscode.commands.registerCommand("fxlsp.showLog", () => {
      log.show();
    }),
    vscode.commands.registerCommand("fxlsp.debugInformation", () => showDebugInformation(context, current)),
    // Settings and the interpreter may be others now, and so may the Python that runs the server.
    vscode.workspace.onDidGrantWorkspaceTrust(() => current.restart()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("fxlsp.server")) void current.restart();
    }),
    interpreters.onDidChange(() => current.sendSettings()),
  );
  void current.restart();
}

export async function deactivate(): Promise<void> {
  await session?.stop();
}
