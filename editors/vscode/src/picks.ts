// Quick picks: how a model is made and fed, and which use of a class is shown.
import * as vscode from "vscode";

type Place = [uri: string, name: string];
type Next = (command: string, args: unknown[]) => Promise<unknown>;

/** As `fxlsp.recipes` answers: docs/commands.md. */
interface Recipe {
  id: string;
  text: string;
  origin: string;
  inUse: boolean;
  pinned: boolean;
}

/** As `fxlsp.instances` answers. */
interface Instance {
  id: string;
  text: string;
  shapes: string;
  chosen: boolean;
}

interface Item extends vscode.QuickPickItem {
  run?: () => Promise<unknown>;
}

const LINE: Item = { label: "", kind: vscode.QuickPickItemKind.Separator };

export async function chooseRecipe(place: Place, next: Next): Promise<void> {
  const recipes = (await next("fxlsp.recipes", place)) as Recipe[];
  const choose = (id: string) => () => next("fxlsp.chooseRecipe", [...place, id]);
  const items: Item[] = recipes.map(({ id, text, origin, inUse }) => ({
    label: `${inUse ? "$(check) " : ""}${text}`,
    description: origin,
    run: choose(id),
  }));
  if (recipes.some(({ pinned }) => pinned)) {
    items.push(LINE, { label: "$(discard) The first that works", run: choose("automatic") });
  }
  if (recipes.some(({ inUse }) => inUse)) {
    items.push(LINE, {
      label: "$(edit) Write the one in use as a comment",
      run: () => next("fxlsp.writeRecipe", place),
    });
  }
  await pick(items, `How is ${place[1]} made and fed?`, `No recipe is known for ${place[1]}.`);
}

export async function chooseInstance(place: Place, next: Next): Promise<void> {
  const instances = (await next("fxlsp.instances", place)) as Instance[];
  const choose = (id: string) => () => next("fxlsp.chooseInstance", [...place, id]);
  const items: Item[] = instances.map(({ id, text, shapes, chosen }) => ({
    label: `${chosen ? "$(check) " : ""}${text}`,
    description: shapes,
    run: choose(id),
  }));
  if (instances.some(({ chosen }) => chosen))
    items.push(LINE, { label: "$(discard) The first one", run: choose("first") });
  await pick(items, `Which ${place[1]} do you want to see?`, `No trace has run ${place[1]}.`);
}

async function pick(items: Item[], title: string, nothing: string): Promise<void> {
  if (items.length === 0) {
    void vscode.window.showInformationMessage(nothing);
    return;
  }
  const picked = await vscode.window.showQuickPick(items, { title, matchOnDescription: true });
  await picked?.run?.();
}
