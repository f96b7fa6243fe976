// What a hover at the cursor says, into the clipboard: no server reaches that.
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";

type Next = (command: string, args: unknown[]) => Promise<unknown>;

/** Runs `fxlsp.copyComment` or `fxlsp.copyTable` for the cursor; what there is to copy, if anything. */
export async function copied(client: LanguageClient, command: string, next: Next): Promise<unknown> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) return undefined;
  const at = client.code2ProtocolConverter.asPosition(editor.selection.active);
  const uri = client.code2ProtocolConverter.asUri(editor.document.uri);
  const found = (await next(command, [uri, at.line, at.character])) as { text: string } | null;
  if (found !== null) await vscode.env.clipboard.writeText(found.text);
  return found;
}
