// Stands in for the Python extension.
import type { ActiveEnvironmentPathChangeEvent, ResolvedEnvironment } from "@vscode/python-extension";
import * as vscode from "vscode";
import type { PythonApi } from "../../../src/interpreter";
import { Choices, type StandIn } from "../standIn";

export function activate(): PythonApi & StandIn {
  const choices = new Choices<ActiveEnvironmentPathChangeEvent>((folder, path) => ({
    id: path,
    path,
    resource: vscode.workspace.getWorkspaceFolder(folder),
  }));
  return {
    ...choices.standIn,
    environments: {
      // Where nothing is chosen, the extension names what it would run, and does not know what that is.
      getActiveEnvironmentPath: (resource) => {
        const path = choices.of(resource && "uri" in resource ? resource.uri : resource) ?? "python";
        return { id: path, path };
      },
      resolveEnvironment: (environment) => {
        const path = typeof environment === "string" ? environment : environment.path;
        const uri = vscode.Uri.file(path);
        return Promise.resolve(path === "python" ? undefined : ({ path, executable: { uri } } as ResolvedEnvironment));
      },
      onDidChangeActiveEnvironmentPath: choices.onDidChange,
    },
  };
}
