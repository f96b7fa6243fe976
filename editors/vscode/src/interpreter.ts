// The interpreter of a folder, as the Python extensions say: Python Environments, else Python. Neither has to be there.
import type { PythonEnvironmentApi } from "@vscode/python-environments";
import type { PythonExtension } from "@vscode/python-extension";
import * as vscode from "vscode";

const ENVIRONMENTS = "ms-python.vscode-python-envs";
const PYTHON = "ms-python.python";

/** Of the Python Environments extension, what is used here. */
export type EnvironmentsApi = Pick<PythonEnvironmentApi, "getEnvironment" | "onDidChangeEnvironment">;

/** Of the Python extension, what is used here. */
export interface PythonApi {
  environments: Pick<
    PythonExtension["environments"],
    "getActiveEnvironmentPath" | "resolveEnvironment" | "onDidChangeActiveEnvironmentPath"
  >;
}

/** Either of them, as one question. */
interface Source {
  name: string;
  of(scope: vscode.Uri | undefined): Promise<string | undefined>;
  onDidChange: vscode.Event<unknown>;
}

/** Milliseconds for which a Python extension may look around before the server starts without it. */
const PATIENCE = 10_000;

export class Interpreters implements vscode.Disposable {
  /** Of the first folder, as reported last; null where no extension reports one. */
  known: string | null = null;
  private readonly changed = new vscode.EventEmitter<void>();
  readonly onDidChange = this.changed.event;
  private source: Promise<Source | undefined> | undefined;
  private listening: vscode.Disposable | undefined;

  constructor(private readonly log: vscode.LogOutputChannel) {}

  /** The interpreter that is chosen for a place; null where nobody has chosen, or nothing may run. */
  async of(scope = vscode.workspace.workspaceFolders?.[0]?.uri): Promise<string | null> {
    // What a workspace says of its interpreter may be a program of its own.
    if (!vscode.workspace.isTrusted) return null;
    const source = await (this.source ??= this.find());
    let found: string | null = null;
    try {
      found = (await within(PATIENCE, source?.of(scope))) ?? null;
    } catch (error) {
      this.log.warn(`${source?.name ?? ""} does not say which interpreter is chosen: ${String(error)}`);
    }
    if (scope?.toString() === vscode.workspace.workspaceFolders?.[0]?.uri.toString()) this.known = found;
    return found;
  }

  dispose(): void {
    this.listening?.dispose();
    this.changed.dispose();
  }

  private async find(): Promise<Source | undefined> {
    const source = (await this.sourceOf(ENVIRONMENTS, fromEnvironments)) ?? (await this.sourceOf(PYTHON, fromPython));
    this.log.info(source ? `interpreters: as ${source.name} says` : "interpreters: no Python extension is there");
    // Of whichever folder: the server asks again for each.
    this.listening = source?.onDidChange(() => {
      this.changed.fire();
    });
    return source;
  }

  private async sourceOf(id: string, make: (name: string, api: unknown) => Source): Promise<Source | undefined> {
    const extension = vscode.extensions.getExtension<unknown>(id);
    if (extension === undefined) return undefined;
    try {
      // It exports nothing where a setting has switched it off.
      const api = extension.isActive ? extension.exports : await within(PATIENCE, extension.activate());
      return api === undefined ? undefined : make(id, api);
    } catch (error) {
      this.log.warn(`${id} cannot be used: ${String(error)}`);
      return undefined;
    }
  }
}

function fromEnvironments(name: string, exported: unknown): Source {
  const api = exported as EnvironmentsApi;
  return {
    name,
    of: async (scope) => (await api.getEnvironment(scope))?.execInfo.run.executable,
    onDidChange: api.onDidChangeEnvironment,
  };
}

function fromPython(name: string, exported: unknown): Source {
  const { environments } = exported as PythonApi;
  return {
    name,
    of: async (scope) => {
      const found = await environments.resolveEnvironment(environments.getActiveEnvironmentPath(scope));
      return found?.executable.uri?.fsPath;
    },
    onDidChange: environments.onDidChangeActiveEnvironmentPath,
  };
}

async function within<T>(milliseconds: number, work: PromiseLike<T> | undefined): Promise<T | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`no answer in ${milliseconds / 1000} s`));
    }, milliseconds);
  });
  try {
    return await Promise.race([Promise.resolve(work), late]);
  } finally {
    clearTimeout(timer);
  }
}
