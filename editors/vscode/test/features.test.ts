// What is shown in a file: everything that the server answers, as VS Code has it in the end.
import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import { click, eventually, hints, hoversAt, lens, opened, rangeOf, replace, reverted, test } from "./framework";

test("a traced model has lenses with its size and verdict", async () => {
  const document = await opened("resnet.py");
  await lens(document, /nodes · .* parameters · .* · traceable/);
});

test("a hover shows nodes, module paths and shapes", async () => {
  const document = await opened("resnet.py");
  await lens(document, /traceable/);
  const position = rangeOf(document, "self.conv1(x)").start.translate(0, 6);
  const text = await eventually(async () =>
    (await hoversAt(document, position)).find((each) => each.includes("conv1")),
  );
  assert.match(text, /\(\d+, 64, \d+, \d+\)/);
});

test("hints show shapes behind the lines and follow an edit that is not saved", async () => {
  const document = await opened("twice.py");
  const line = "return torch.relu(self.linear(x))";
  await eventually(async () => (await hints(document)).get(line)?.startsWith("(2, 8)"));
  await replace(document, rangeOf(document, "torch.randn(2, 8)"), "torch.randn(5, 8)");
  await eventually(async () => (await hints(document)).get(line)?.startsWith("(5, 8)"));
  await reverted(document);
});

test("a setting that is set counts, and its default is not sent", async () => {
  const document = await opened("twice.py");
  const configuration = vscode.workspace.getConfiguration("fxlsp");
  await eventually(async () => (await hints(document)).size > 0);
  const all = (await hints(document)).size;
  await configuration.update("hints.shapes", false, vscode.ConfigurationTarget.Workspace);
  await eventually(async () => (await hints(document)).size < all);
  await configuration.update("hints.shapes", undefined, vscode.ConfigurationTarget.Workspace);
  await eventually(async () => (await hints(document)).size === all);
});

test("problems stand at their expressions, with a page for each code", async () => {
  const document = await opened("early_exit.py");
  const problem = await eventually(() =>
    vscode.languages.getDiagnostics(document.uri).find(({ source }) => source === "fxlsp"),
  );
  assert.equal(document.getText(problem.range), "guess.amax(dim=-1).min() > 0.9");
  assert.ok(typeof problem.code === "object");
  assert.match(problem.code.target.toString(), /FX\d+/);
});

test("an untitled buffer is traced", async () => {
  const content = `import torch
from torch import nn


class Fresh(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        return self.fc(x)


Fresh()(torch.randn(2, 3))
`;
  const document = await vscode.workspace.openTextDocument({ language: "python", content });
  await vscode.window.showTextDocument(document);
  await lens(document, /nodes · .* · traceable/);
  assert.equal((await hints(document)).get("return self.fc(x)"), "(2, 4)");
  await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
});

test("the cells of a notebook are one module, and each has its hints", async () => {
  const kind = vscode.NotebookCellKind.Code;
  const notebook = await vscode.workspace.openNotebookDocument(
    "jupyter-notebook",
    new vscode.NotebookData([
      new vscode.NotebookCellData(kind, "import torch\nfrom torch import nn", "python"),
      new vscode.NotebookCellData(
        kind,
        "class Cell(nn.Module):\n    def forward(self, x):\n        return x @ x.T\n\n\nCell()(torch.randn(2, 3))",
        "python",
      ),
    ]),
  );
  await vscode.window.showNotebookDocument(notebook);
  const cell = notebook.cellAt(1).document;
  await eventually(async () => (await hints(cell)).get("return x @ x.T") === "(2, 2)");
  await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
});

test("a click on the lens of the graph opens it beside the source, once", async () => {
  const document = await opened("resnet.py");
  const graph = await lens(document, /^graph$/);
  await click(graph);
  await click(graph);
  const views = await eventually(() => {
    const tabs = vscode.window.tabGroups.all.flatMap((group) => group.tabs);
    const found = tabs.filter(
      ({ input }) => input instanceof vscode.TabInputWebview && input.viewType.endsWith("fxlsp.graph"),
    );
    return found.length > 0 ? found : undefined;
  });
  assert.deepEqual(
    views.map(({ label }) => label),
    ["Graph: ResNet"],
  );
  await vscode.window.tabGroups.close(views);
});

test("the outline and the way to a definition are there", async () => {
  const document = await opened("resnet.py");
  await lens(document, /traceable/);
  const symbols = await vscode.commands.executeCommand<vscode.DocumentSymbol[]>(
    "vscode.executeDocumentSymbolProvider",
    document.uri,
  );
  assert.ok(symbols.some(({ name }) => name.includes("ResNet")));
  const position = rangeOf(document, "self.layer2(x)").start.translate(0, 7);
  const command = "vscode.executeImplementationProvider";
  const places = await vscode.commands.executeCommand<(vscode.Location | vscode.LocationLink)[]>(
    command,
    document.uri,
    position,
  );
  assert.ok(places.length > 0);
});

test("the shapes at the cursor are copied as a comment", async () => {
  const document = await opened("twice.py");
  await eventually(async () => (await hints(document)).size > 0);
  const editor = await vscode.window.showTextDocument(document);
  const call = rangeOf(document, "self.linear(x)").start.translate(0, 6);
  editor.selection = new vscode.Selection(call, call);
  await vscode.commands.executeCommand("fxlsp.copyComment");
  assert.match(await vscode.env.clipboard.readText(), /^# \(.*\) → \(.*\)/);
});
