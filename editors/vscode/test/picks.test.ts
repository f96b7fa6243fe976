// Commands of lenses and of the palette that ask the user.
import * as assert from "node:assert/strict";
import * as path from "node:path";
import * as vscode from "vscode";
import { click, eventually, hints, lens, opened, picking, reverted, test } from "./framework";

const LINE = "return torch.relu(self.linear(x))";

test("the lens of a recipe offers those that were found, and the chosen one counts", async () => {
  const document = await opened("twice.py");
  const recipe = await lens(document, /^recipe: Net\(\)/);
  const offered = await picking(
    (items) => items.find(({ label }) => label.includes("Net(16)")),
    () => click(recipe),
  );
  assert.ok(offered.some(({ label }) => label.startsWith("$(check)")));
  await eventually(async () => (await hints(document)).get(LINE)?.startsWith("(4, 16)"));
  const again = await picking(
    (items) => items.find(({ label }) => label.includes("The first that works")),
    () => click(recipe),
  );
  assert.equal(again.filter(({ label }) => label.includes("The first that works")).length, 1);
  await eventually(async () => (await hints(document)).get(LINE)?.startsWith("(2, 8)"));
});

test("a recipe is written as a comment above its class", async () => {
  const document = await opened("twice.py");
  const recipe = await lens(document, /^recipe: Net\(\)/);
  await picking(
    (items) => items.find(({ label }) => label.includes("comment")),
    () => click(recipe),
  );
  await eventually(() => document.getText().includes("# fxlsp: Net()(torch.randn(2, 8))\nclass Net"));
  await reverted(document);
});

test("the palette asks for the class, then for its instance", async () => {
  const document = await opened("twice.py");
  await lens(document, /^recipe: Net\(\)/);
  await eventually(async () => (await hints(document)).get(LINE)?.startsWith("(2, 8)"));
  const choose = (part: string) =>
    picking(
      (items) => items.find(({ label }) => label.includes(part)),
      () => Promise.resolve(vscode.commands.executeCommand("fxlsp.chooseInstance")),
    );
  const offered = await choose("second");
  assert.equal(offered.length, 2, JSON.stringify(offered));
  await eventually(async () => (await hints(document)).get(LINE)?.startsWith("(2, 16)"));
  await choose("The first one");
  await eventually(async () => (await hints(document)).get(LINE)?.startsWith("(2, 8)"));
});

test("a run is recorded in a terminal: that of the setting, else what the user types", async () => {
  const document = await opened("twice.py");
  await lens(document, /^recipe: Net\(\)/);
  const { window, tasks } = vscode as {
    window: { showInputBox: unknown };
    tasks: { executeTask: unknown };
  };
  const originals = { showInputBox: window.showInputBox, executeTask: tasks.executeTask };
  const executed: vscode.Task[] = [];
  let asked = 0;
  tasks.executeTask = (task: vscode.Task) => {
    executed.push(task);
    return Promise.resolve();
  };
  window.showInputBox = () => {
    asked += 1;
    return Promise.resolve('python "a b.py"');
  };
  try {
    await vscode.commands.executeCommand("fxlsp.record");
    const setting = vscode.workspace.getConfiguration("fxlsp", document.uri);
    await setting.update("record.command", "pytest -q", vscode.ConfigurationTarget.Workspace);
    await eventually(async () => {
      await vscode.commands.executeCommand("fxlsp.record");
      return (executed.at(-1)?.execution as vscode.ProcessExecution).args.at(-2) === "pytest";
    });
    await setting.update("record.command", undefined, vscode.ConfigurationTarget.Workspace);
  } finally {
    Object.assign(window, { showInputBox: originals.showInputBox });
    Object.assign(tasks, { executeTask: originals.executeTask });
  }
  assert.ok(asked > 0);
  const { process, args, options } = executed[0]?.execution as vscode.ProcessExecution;
  assert.ok(path.isAbsolute(process));
  assert.deepEqual(args.slice(args.indexOf("--") + 1), ["python", "a b.py"]);
  assert.equal(options?.cwd, vscode.workspace.getWorkspaceFolder(document.uri)?.uri.fsPath);
});
