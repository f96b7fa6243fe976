// A run of the user's own command, recorded in a terminal: the server says how, and runs nothing.
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

type Next = (command: string, args: unknown[]) => Promise<unknown>;

/** As `fxlsp.record` answers: docs/commands.md. */
interface Run {
  command: string;
  argv: string[];
  cwd: string;
}

const COMMAND = "fxlsp.record";

/** Runs what the setting names, else what the user types; the run, or undefined if there is none. */
export async function record(client: LanguageClient, next: Next): Promise<Run | undefined> {
  const editor = vscode.window.activeTextEditor;
  const uri = editor === undefined ? null : client.code2ProtocolConverter.asUri(editor.document.uri);
  let run = (await next(COMMAND, [uri])) as Run | null;
  if (run?.argv.length === 0) {
    const typed = await vscode.window.showInputBox({
      title: "Record a run",
      prompt: "A command that makes and calls your models. Their arguments and shapes are noted, no values.",
      placeHolder: "python train.py --epochs 1",
      ignoreFocusOut: true,
    });
    run = typed ? ((await next(COMMAND, [uri, typed])) as Run | null) : null;
  }
  // The server has said why where there is none.
  if (run === null || run.argv.length === 0) return undefined;
  await vscode.tasks.executeTask(taskOf(run));
  return run;
}

/** Without a shell, which would read the words once more; its terminal stays open for what the run reports. */
function taskOf({ command, argv: [program = "", ...args], cwd }: Run): vscode.Task {
  const execution = new vscode.ProcessExecution(program, args, { cwd });
  const scope = vscode.workspace.getWorkspaceFolder(vscode.Uri.file(cwd)) ?? vscode.TaskScope.Workspace;
  const task = new vscode.Task({ type: "process" }, scope, `record: ${command}`, "fxlsp", execution);
  task.presentationOptions = { reveal: vscode.TaskRevealKind.Always, panel: vscode.TaskPanelKind.Dedicated };
  return task;
}
