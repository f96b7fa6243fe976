// Everything that somebody who is asked for help wants to know first.
import * as vscode from "vscode";
import { State } from "vscode-languageclient/node";
import { settingsFor } from "./settings";
import type { Session } from "./types";

export async function showDebugInformation(
  context: vscode.ExtensionContext,
  { client, lastStatus }: Session,
): Promise<void> {
  const { version } = context.extension.packageJSON as { version: string };
  const isRunning = client?.state === State.Running;
  const facts = {
    extension: version,
    vscode: vscode.version,
    platform: `${process.platform} ${process.arch}`,
    trusted: vscode.workspace.isTrusted,
    server: {
      state: client === undefined ? "none" : State[client.state],
      version: client?.initializeResult?.serverInfo?.version ?? null,
      process: client?.serverProcess?.spawnargs ?? null,
    },
    status: lastStatus ?? null,
    session: isRunning ? await vscode.commands.executeCommand("fxlsp.information") : null,
    settings: settingsFor(undefined),
  };
  const content = JSON.stringify(facts, null, 2);
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument({ language: "json", content }));
}
