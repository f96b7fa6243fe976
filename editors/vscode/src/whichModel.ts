// The model that a command of the palette is about: one of those with such a lens in the file in front.
import * as vscode from "vscode";
import { type CodeLens, CodeLensRequest, type LanguageClient } from "vscode-languageclient/node";

type Place = [uri: string, name: string];

const QUESTIONS: Record<string, [question: string, nothing: string]> = {
  "fxlsp.showGraph": ["The graph of which model?", "No model of this file has a graph yet."],
  "fxlsp.askFrontends": ["About which model?", "No model of this file has a trace yet."],
  "fxlsp.chooseRecipe": ["Which model?", "No model of this file has a recipe."],
  "fxlsp.chooseInstance": ["Of which class?", "No class of this file ran in more than one place."],
};

/** A model that can be meant has a lens with the command `lens`. */
export async function whichModel(client: LanguageClient, command: string, lens: string): Promise<Place | undefined> {
  const [question, nothing] = QUESTIONS[command] ?? ["Which model?", "There is no model."];
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.languageId !== "python") {
    void vscode.window.showInformationMessage("Open a Python file with a model in it first.");
    return undefined;
  }
  const textDocument = client.code2ProtocolConverter.asTextDocumentIdentifier(editor.document);
  const lenses = (await client.sendRequest(CodeLensRequest.type, { textDocument })) ?? [];
  const found = named(lenses.filter((each) => each.command?.command === lens));
  const [name, isOnly] = [[...found.keys()], found.size === 1];
  if (found.size === 0) void vscode.window.showInformationMessage(nothing);
  const picked = isOnly ? name[0] : await pick(question, found, editor.selection.active.line);
  return picked === undefined ? undefined : [textDocument.uri, picked];
}

/** The line of each model, by its name. */
function named(lenses: CodeLens[]): Map<string, number> {
  return new Map(
    lenses.flatMap(({ command, range }) => {
      const name: unknown = command?.arguments?.[1];
      return typeof name === "string" ? [[name, range.start.line] as const] : [];
    }),
  );
}

/** The model around the cursor comes first. */
async function pick(question: string, found: Map<string, number>, line: number): Promise<string | undefined> {
  if (found.size === 0) return undefined;
  const isAbove = (name: string) => (found.get(name) ?? 0) <= line;
  const nearest = [...found.keys()].filter(isAbove).pop();
  const names = [...found.keys()].sort((one, other) => Number(other === nearest) - Number(one === nearest));
  const items = names.map((label) => ({ label, description: `line ${(found.get(label) ?? 0) + 1}` }));
  return (await vscode.window.showQuickPick(items, { title: question }))?.label;
}
