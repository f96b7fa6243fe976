// Stands in for the Python Environments extension.
import type { DidChangeEnvironmentEventArgs, PythonEnvironment } from "@vscode/python-environments";
import type { EnvironmentsApi } from "../../../src/interpreter";
import { Choices, type StandIn } from "../standIn";

export function activate(): EnvironmentsApi & StandIn {
  const choices = new Choices<DidChangeEnvironmentEventArgs>((uri, python) => ({
    uri,
    old: undefined,
    new: environmentOf(python),
  }));
  return {
    ...choices.standIn,
    getEnvironment: (scope) => {
      const python = choices.of(scope);
      return Promise.resolve(python === undefined ? undefined : environmentOf(python));
    },
    onDidChangeEnvironment: choices.onDidChange,
  };
}

function environmentOf(executable: string): PythonEnvironment {
  return { execInfo: { run: { executable } } } as PythonEnvironment;
}
