// Trust withheld, then granted: until then nothing of the workspace runs, neither its models nor the programs it names.
import * as assert from "node:assert/strict";
import { existsSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import type { StandIn } from "./beside/standIn";
import { eventually, hints, hoversAt, information, isAtRest, lens, opened, rangeOf, test } from "./framework";

const ENVIRONMENTS = "ms-python.vscode-python-envs";
const LINE = "return torch.relu(self.linear(x))";

test("without trust there are outline and lenses, and nothing of the workspace runs", async () => {
  const document = await opened("twice.py");
  assert.equal(vscode.workspace.isTrusted, false);
  await lens(document, /^not traced: trust this workspace first$/);
  const symbols = "vscode.executeDocumentSymbolProvider";
  const found = await vscode.commands.executeCommand<vscode.DocumentSymbol[]>(symbols, document.uri);
  assert.ok(found.some(({ name }) => name.includes("Net")));
  await eventually(isAtRest);
  assert.equal((await hints(document)).size, 0);
  assert.deepEqual(await hoversAt(document, rangeOf(document, "self.first(x)").start.translate(0, 6)), []);
  assert.deepEqual(ran(), []);
});

test("without trust no interpreter is asked for, and a restricted command of the workspace does not count", async () => {
  const document = await opened("twice.py");
  await vscode.commands.executeCommand("fxlsp.restartServer");
  await lens(document, /^not traced: trust this workspace first$/);
  assert.equal((await standIn(ENVIRONMENTS)).timesAsked() + (await standIn("ms-python.python")).timesAsked(), 0);
  assert.deepEqual(ran(), []);
});

test("once trust is granted the models are traced, by the programs that the workspace names", async () => {
  const document = await opened("twice.py");
  await vscode.commands.executeCommand(...commandOf(await lens(document, /^not traced: trust/)));
  await eventually(() => vscode.workspace.isTrusted);
  await lens(document, /traceable/);
  await eventually(async () => (await hints(document)).get(LINE)?.startsWith("(2, 8)"));
  assert.deepEqual(ran(), ["server", "python"]);
});

test("where both Python extensions are, Python Environments is the one that is asked", async () => {
  const document = await opened("twice.py");
  await lens(document, /traceable/);
  const [folder] = vscode.workspace.workspaceFolders ?? [];
  assert.ok(folder);
  (await standIn("ms-python.python")).choose(folder.uri, "/nowhere/python");
  await vscode.workspace.getConfiguration("fxlsp").update("python", undefined, vscode.ConfigurationTarget.Workspace);
  const python = process.env.FXLSP_TEST_PYTHON ?? "";
  (await standIn(ENVIRONMENTS)).choose(folder.uri, python);
  await eventually(async () => (await information()).folders[0]?.interpreter === python);
  await eventually(isAtRest);
  await lens(document, /traceable/);
  assert.equal((await standIn("ms-python.python")).timesAsked(), 0);
});

function commandOf({ command, arguments: given = [] }: vscode.Command): [string, ...unknown[]] {
  return [command, ...(given as unknown[])];
}

/** Which of the workspace's programs have run. */
function ran(): string[] {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? "";
  return ["server", "python"].filter((name) => existsSync(path.join(folder, `${name}.ran`)));
}

async function standIn(id: string): Promise<StandIn> {
  const extension = vscode.extensions.getExtension<StandIn>(id);
  assert.ok(extension, id);
  return extension.activate();
}
