// Two folders with two interpreters: each model is traced by that of its folder.
import * as assert from "node:assert/strict";
import * as path from "node:path";
import * as vscode from "vscode";
import type { StandIn } from "./beside/standIn";
import { eventually, hints, information, opened, test } from "./framework";

const LINE = "return self.linear(x)";

test("each folder is traced by the interpreter of its own .venv", async () => {
  const [one, two] = [await opened("width.py", 0), await opened("width.py", 1)];
  await eventually(async () => (await hints(one)).get(LINE)?.startsWith("(4, 3)"));
  await eventually(async () => (await hints(two)).get(LINE)?.startsWith("(4, 5)"));
  const { folders } = await information();
  assert.deepEqual(folders.map(({ folder, interpreter }) => [folder, interpreter]).sort(), [
    [folder(0), python("one")],
    [folder(1), python("two")],
  ]);
});

test("an interpreter that is chosen in the Python extension counts for its folder alone", async () => {
  const [one, two] = [await opened("width.py", 0), await opened("width.py", 1)];
  const extension = vscode.extensions.getExtension<StandIn>("ms-python.python");
  assert.ok(extension);
  const standIn = await extension.activate();
  standIn.choose(vscode.Uri.file(folder(1)), python("three"));
  await eventually(async () => (await hints(two)).get(LINE)?.startsWith("(4, 7)"));
  await eventually(async () => (await hints(one)).get(LINE)?.startsWith("(4, 3)"));
  const { folders } = await information();
  const sorted = folders.sort((one, other) => one.folder.localeCompare(other.folder));
  assert.deepEqual(
    sorted.map(({ folder, interpreter }) => [folder, interpreter]),
    [
      [folder(0), python("one")],
      [folder(1), python("three")],
    ],
  );
  assert.notEqual(sorted[0]?.origin, sorted[1]?.origin);
});

test("the setting of a folder counts more than what the Python extension says", async () => {
  const two = await opened("width.py", 1);
  const configuration = vscode.workspace.getConfiguration("fxlsp", vscode.Uri.file(folder(1)));
  await configuration.update("python", python("one"), vscode.ConfigurationTarget.WorkspaceFolder);
  await eventually(async () => (await hints(two)).get(LINE)?.startsWith("(4, 3)"));
  await configuration.update("python", undefined, vscode.ConfigurationTarget.WorkspaceFolder);
  await eventually(async () => (await hints(two)).get(LINE)?.startsWith("(4, 7)"));
});

function folder(index: number): string {
  return vscode.workspace.workspaceFolders?.[index]?.uri.fsPath ?? "";
}

function python(name: string): string {
  return path.join(path.dirname(folder(0)), name, ".venv", "bin", "python");
}
