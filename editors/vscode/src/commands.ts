// What becomes of the server's commands here: VS Code has its own way to ask, to trust and to show a graph.
import * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import { copied } from "./copying";
import { chooseInstance, chooseRecipe } from "./picks";
import { record } from "./recording";
import type { Session } from "./types";
import { whichModel } from "./whichModel";

type Next = (command: string, args: unknown[]) => Promise<unknown>;
type Place = [uri: string, name: string];

/** Runs a command of the server's, with what the editor asks for before. */
export async function execute(
  session: Session,
  client: LanguageClient,
  command: string,
  args: unknown[],
  next: Next,
): Promise<unknown> {
  const given = args.filter((argument) => argument !== undefined);
  switch (command) {
    case "fxlsp.trust":
      // Trust is VS Code's to give; the server is started anew with it.
      return vscode.workspace.isTrusted ? next(command, []) : vscode.commands.executeCommand("workbench.trust.manage");
    case "fxlsp.showGraph":
      return session.graphs?.show(client, await placeOf(client, given, command), given[2]);
    case "fxlsp.chooseRecipe":
      return given.length > 2
        ? next(command, given)
        : withPlace(client, given, command, (at) => chooseRecipe(at, next));
    case "fxlsp.chooseInstance":
      return given.length > 2
        ? next(command, given)
        : withPlace(client, given, command, (at) => chooseInstance(at, next));
    case "fxlsp.writeRecipe":
      return given.length > 1
        ? next(command, given)
        : withPlace(client, given, "fxlsp.chooseRecipe", (at) => next(command, at));
    case "fxlsp.askFrontends":
      // A model with a trace has the lens of its graph.
      return given.length > 1
        ? next(command, given)
        : withPlace(client, given, command, (at) => next(command, at), "fxlsp.showGraph");
    case "fxlsp.record":
      return given.length > 1 ? next(command, given) : record(client, next);
    case "fxlsp.copyComment":
    case "fxlsp.copyTable":
      return given.length > 2 ? next(command, given) : copied(client, command, next);
    default:
      // A menu hands over the file it was opened for, the palette nothing.
      return next(
        command,
        given.filter((argument) => typeof argument === "string"),
      );
  }
}

async function withPlace(
  client: LanguageClient,
  args: unknown[],
  command: string,
  run: (place: Place) => Promise<unknown>,
  lens = command,
): Promise<unknown> {
  const place = await placeOf(client, args, command, lens);
  return place === undefined ? undefined : run(place);
}

/** The model that is meant: what the lens says, else what the user picks among those in front of them. */
async function placeOf(
  client: LanguageClient,
  [uri, name]: unknown[],
  command: string,
  lens = command,
): Promise<Place | undefined> {
  if (typeof uri === "string" && typeof name === "string") return [uri, name];
  return whichModel(client, command, lens);
}
