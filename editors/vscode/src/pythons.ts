// Pythons on this machine, and what they are.
import { execFile } from "node:child_process";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";

export interface Python {
  path: string;
  version: [number, number];
}

const run = promisify(execFile);

/** Milliseconds that a Python has to say its version. */
const PATIENCE = 10_000;
const QUESTION = "import sys; print(sys.implementation.name, *sys.version_info[:2], sys.maxsize > 2**32, sep='\\n')";

/** Where Pythons of the system may be. What lies in the workspace is left out: it may be anything. */
export function placesOnPath(): string[] {
  const names = process.platform === "win32" ? ["python.exe", "python3.exe"] : versioned();
  const folders = (process.env.PATH ?? "").split(path.delimiter).filter(isElsewhere);
  return folders.flatMap((folder) => names.map((name) => path.join(folder, name)));
}

function versioned(): string[] {
  return ["python3", "python3.13", "python3.12", "python3.11", "python3.10", "python"];
}

function isElsewhere(folder: string): boolean {
  return path.isAbsolute(folder) && vscode.workspace.getWorkspaceFolder(vscode.Uri.file(folder)) === undefined;
}

/** The first of some Pythons that is as wanted. */
export async function firstPython(
  places: Iterable<string>,
  isWanted: (python: Python) => boolean,
  cwd: string,
): Promise<Python | undefined> {
  for (const place of places) {
    const python = await pythonAt(place, cwd);
    if (python !== undefined && isWanted(python)) return python;
  }
  return undefined;
}

const asked = new Map<string, Promise<Python | undefined>>();

/** What a Python says of itself; undefined where there is none that runs, or one that is not CPython of 64 bits. */
function pythonAt(place: string, cwd: string): Promise<Python | undefined> {
  let answer = asked.get(place);
  if (answer === undefined) asked.set(place, (answer = ask(place, cwd)));
  return answer;
}

async function ask(place: string, cwd: string): Promise<Python | undefined> {
  try {
    const { stdout } = await run(place, ["-I", "-c", QUESTION], { cwd, timeout: PATIENCE });
    const [implementation, major, minor, is64bit] = stdout.split(/\r?\n/);
    if (implementation !== "cpython" || is64bit !== "True") return undefined;
    return { path: place, version: [Number(major), Number(minor)] };
  } catch {
    return undefined;
  }
}
