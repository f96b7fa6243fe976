// Tests with names, and expectations that become true.
import * as assert from "node:assert/strict";
import * as path from "node:path";
import { isDeepStrictEqual } from "node:util";
import * as vscode from "vscode";

export const tests: { name: string; body: () => void | Promise<void> }[] = [];

export function test(name: string, body: () => void | Promise<void>): void {
  tests.push({ name, body });
}

/** Where the running test waits: what it did not see is the reason why it was not done in time. */
export let waitsAt: string | undefined;

/** What `look` finds, once it finds something. Looks again for as long as the test may take. */
export async function eventually<T>(look: () => T | PromiseLike<T>): Promise<NonNullable<T>> {
  waitsAt = new Error("here").stack;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== null && found !== false) return found;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Compares what `look` finds until it is equal to what is expected; after a minute the difference is the failure. */
export async function eventuallyEqual<T>(look: () => PromiseLike<T>, expected: T): Promise<void> {
  const end = Date.now() + 60_000;
  for (;;) {
    const found = await look();
    if (isDeepStrictEqual(found, expected)) return;
    if (Date.now() > end) assert.deepEqual(found, expected);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Opens a file of a folder of the workspace as it is on disk. */
export async function opened(name: string, index = 0): Promise<vscode.TextDocument> {
  const folder = vscode.workspace.workspaceFolders?.[index];
  assert.ok(folder);
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path.join(folder.uri.fsPath, name)));
  await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
  return document;
}

export async function lenses(document: vscode.TextDocument): Promise<vscode.CodeLens[]> {
  return vscode.commands.executeCommand<vscode.CodeLens[]>("vscode.executeCodeLensProvider", document.uri, 100);
}

/** The lens whose text matches, once it is there. */
export async function lens(document: vscode.TextDocument, text: RegExp): Promise<vscode.Command> {
  return eventually(async () => {
    const found = (await lenses(document)).find(({ command }) => command && text.test(command.title));
    return found?.command;
  });
}

/** Runs what a click on a lens does. */
export async function click({ command, arguments: given = [] }: vscode.Command): Promise<unknown> {
  return vscode.commands.executeCommand(command, ...(given as unknown[]));
}

/** The hints of a file by the text of the line in which they stand. */
export async function hints(document: vscode.TextDocument): Promise<Map<string, string>> {
  const all = new vscode.Range(0, 0, document.lineCount, 0);
  const command = "vscode.executeInlayHintProvider";
  const found = await vscode.commands.executeCommand<vscode.InlayHint[]>(command, document.uri, all);
  return new Map(
    found.map(({ position, label }) => {
      const text = typeof label === "string" ? label : label.map(({ value }) => value).join("");
      return [document.lineAt(position.line).text.trim(), text];
    }),
  );
}

/** The texts of the hovers at a place. */
export async function hoversAt(document: vscode.TextDocument, position: vscode.Position): Promise<string[]> {
  const command = "vscode.executeHoverProvider";
  const hovers = await vscode.commands.executeCommand<vscode.Hover[]>(command, document.uri, position);
  return (hovers.flatMap(({ contents }) => contents) as vscode.MarkdownString[]).map(({ value }) => value);
}

/** What the server says of itself. */
export interface Information {
  atRest: boolean;
  folders: { folder: string; interpreter: string | null; origin: string | null }[];
}

export async function information(): Promise<Information> {
  return vscode.commands.executeCommand<Information>("fxlsp.information");
}

/** Whether the server has nothing to do: only then does what it says not depend on how fast the machine is. */
export async function isAtRest(): Promise<boolean> {
  return (await information()).atRest;
}

/** Where a text of the document is. */
export function rangeOf(document: vscode.TextDocument, text: string): vscode.Range {
  const start = document.getText().indexOf(text);
  assert.notEqual(start, -1, text);
  return new vscode.Range(document.positionAt(start), document.positionAt(start + text.length));
}

export async function replace(document: vscode.TextDocument, range: vscode.Range, text: string): Promise<void> {
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, range, text);
  assert.ok(await vscode.workspace.applyEdit(edit));
}

/** Puts the text of the file on disk back. */
export async function reverted(document: vscode.TextDocument): Promise<void> {
  await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
  await vscode.commands.executeCommand("workbench.action.files.revert");
}

export interface Pick extends vscode.QuickPickItem {
  run?: () => Promise<unknown>;
}

/** Answers the next quick pick with the item that `choose` picks; what was offered. */
export async function picking(
  choose: (items: Pick[]) => Pick | undefined,
  work: () => Promise<unknown>,
): Promise<Pick[]> {
  const { window } = vscode as { window: { showQuickPick: unknown } };
  const original = window.showQuickPick;
  let offered: Pick[] = [];
  window.showQuickPick = (items: Pick[]) => {
    offered = items;
    return Promise.resolve(choose(items));
  };
  try {
    await work();
  } finally {
    window.showQuickPick = original;
  }
  return offered;
}
