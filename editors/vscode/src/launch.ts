// How the server is started: the user's own command, else what comes with the extension under a Python that fits.
import { existsSync, readdirSync } from "node:fs";
import * as path from "node:path";
import * as vscode from "vscode";
import { privateEnvironment } from "./environment";
import type { Interpreters } from "./interpreter";
import { firstPython, type Python, placesOnPath } from "./pythons";
import { SECTION } from "./settings";
import type { Launch } from "./types";

/** There is no Python that could run the server. */
export class NoPythonError extends Error {}

/** Which Pythons the server runs on, as numbers. */
const OLDEST = [3, 10] as const;

export async function launchOf(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
  interpreters: Interpreters,
): Promise<Launch> {
  const configuration = vscode.workspace.getConfiguration(SECTION);
  const project = await interpreters.of();
  const cwd = context.extensionPath;
  const [command, ...args] = configuration.get<string[] | null>("server.command") ?? [];
  if (command !== undefined) return { command, args, cwd };

  const setting = configuration.get<string | null>("server.python");
  const places = setting ? [setting] : [...(project === null ? [] : [project]), ...placesOnPath()];
  const bundled = bundledFor(context);
  const serve = path.join(context.extensionPath, "python", "serve.py");
  // -I: neither the environment's variables nor the folder it is started in decide what is imported.
  const served = (python: string): Launch => ({ command: python, args: ["-I", serve], cwd });

  const fitting = await firstPython(places, (python) => bundled.has(tagOf(python)), cwd);
  if (fitting !== undefined) return served(fitting.path);
  const other = await firstPython(places, isNewEnough, cwd);
  if (other === undefined) {
    throw new NoPythonError(
      `fxlsp needs Python ${OLDEST.join(".")} or later to run its server, and found none${setting ? `: ${setting}` : " on the PATH"}.`,
    );
  }
  log.info(`nothing compiled comes along for Python ${other.version.join(".")}: an environment of its own is needed`);
  return served(await privateEnvironment(context, log, other));
}

function tagOf({ version: [major, minor] }: Python): string {
  return `cp${major}${minor}`;
}

function isNewEnough({ version: [major, minor] }: Python): boolean {
  return major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
}

/** The CPythons for which compiled packages come along: `cp311`. */
function bundledFor(context: vscode.ExtensionContext): Set<string> {
  const folder = path.join(context.extensionPath, "bundled");
  return new Set(existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith("cp")) : []);
}
