// Each quick fix of the server, made in fixes.py: tests/test_vscode_package.py sees to it that none is missing there.
import * as assert from "node:assert/strict";
import * as vscode from "vscode";
import {
  eventually,
  eventuallyEqual,
  hoversAt,
  isAtRest,
  lens,
  lenses,
  opened,
  rangeOf,
  reverted,
  test,
} from "./framework";

/** What is offered in that file, but for what ignores a problem. */
const TITLES = [
  "Assign the attribute self.late",
  "Call the module itself",
  "Choose with torch.where, which computes both sides",
  "Choose with torch.where, which computes both sides: they must have one shape and dtype",
  "Make it once, in __init__, as self.relu",
  "Make self.narrow take 8 features",
  "Make normalise one node of the graph with @torch.fx.wrap",
  "Pass the size as a tuple",
  "Pass the size whole",
  'Record len with torch.fx.wrap("len")',
  "Register scale as a buffer of the state_dict, which older checkpoints lack",
  "Register scale as a buffer that the state_dict leaves out, as now",
  "Register the modules of blocks with nn.ModuleList",
  "Register the modules of heads with nn.ModuleDict",
  "Register the parameters of biases with nn.ParameterDict",
  "Register the parameters of weights with nn.ParameterList",
  "Set it by requires_grad_(), which torch.fx records",
  "Use self.wide",
  "Use torch._assert, which torch.fx records",
  "Use torch._assert, which torch.fx records with its message as it reads then",
];

const CODES = [
  "FX101",
  "FX102",
  "FX103",
  "FX106",
  "FX201",
  "FX202",
  "FX203",
  "FX308",
  "FX315",
  "FX319",
  "FX401",
  "FX403",
  "FX601",
  "FX602",
  "FX604",
];
const ALL = [...TITLES, ...CODES.map((code) => `Ignore ${code} here`)];

/** How many problems the file has as it is saved. */
let complete = 0;

test("all quick fixes that there are, and no others, are offered in one file", async () => {
  const document = await opened("fixes.py");
  // On a slow machine the last models of a file wait until the user points at them.
  for (const name of document.getText().match(/(?<=^class )\w+/gm) ?? []) {
    const { start } = rangeOf(document, `class ${name}`);
    await eventually(async () => {
      await hoversAt(document, start.translate(0, "class ".length));
      return (await lenses(document)).some(
        ({ range, command }) => range.start.line === start.line && command?.title.includes(" nodes · "),
      );
    });
  }
  // The editor fetches the last problems after the server has come to rest.
  await eventuallyEqual(async () => {
    await eventually(isAtRest);
    const found = await Promise.all(problemsOf(document).map(({ range }) => fixesAt(document, range)));
    return [...new Set(found.flat().map(({ title }) => title))].sort();
  }, ALL.sort());
  complete = problemsOf(document).length;
});

for (const title of ALL) {
  test(`the quick fix “${title}” ends its problem, and can be taken back`, async () => {
    const document = await opened("fixes.py");
    const before = document.getText();
    const count = await withProblems(document);
    const offered = await Promise.all(problemsOf(document).map(({ range }) => fixesAt(document, range)));
    const fix = offered.flat().find((each) => each.title === title);
    assert.ok(fix?.edit && (await vscode.workspace.applyEdit(fix.edit)));
    assert.notEqual(document.getText(), before);
    await eventually(async () => problemsOf(document).length < count && (await isAtRest()));
    await reverted(document);
    assert.equal(document.getText(), before);
  });
}

/**
 * Waits for all problems of a file; how many there are. The editor fetches the last ones only after the server is at
 * rest: of a text that was taken back, the problem that the fix had ended is held for a while, as if it were typed.
 */
async function withProblems(document: vscode.TextDocument): Promise<number> {
  assert.ok(complete, "the first test of this file did not find all problems");
  await eventually(async () => problemsOf(document).length === complete && (await isAtRest()));
  return complete;
}

test("the shapes of a statement are written above it as a comment", async () => {
  const document = await opened("twice.py");
  await lens(document, /traceable/);
  const { start } = rangeOf(document, "self.first(x)");
  const found = await eventually(async () => {
    const offered = await actionsAt(document, new vscode.Range(start, start), "refactor.rewrite");
    return offered.find(({ title }) => title === "Write the shapes as a comment");
  });
  assert.ok(found.edit && (await vscode.workspace.applyEdit(found.edit)));
  assert.match(document.getText(), / {8}# \(2, 8\) → \(2, 8\) {2}first\n {8}x = self\.first\(x\)/);
  await reverted(document);
});

function problemsOf(document: vscode.TextDocument): vscode.Diagnostic[] {
  return vscode.languages.getDiagnostics(document.uri).filter(({ source }) => source === "fxlsp");
}

async function fixesAt(document: vscode.TextDocument, range: vscode.Range): Promise<vscode.CodeAction[]> {
  return actionsAt(document, range, "quickfix");
}

async function actionsAt(
  document: vscode.TextDocument,
  range: vscode.Range,
  kind: string,
): Promise<vscode.CodeAction[]> {
  const command = "vscode.executeCodeActionProvider";
  const found = await vscode.commands.executeCommand<vscode.CodeAction[]>(command, document.uri, range, kind);
  return found.filter(({ edit }) => edit !== undefined);
}
