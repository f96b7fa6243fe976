// The settings as the server wants them: those of [tool.fxlsp], and only what somebody has set.
import * as vscode from "vscode";

export const SECTION = "fxlsp";

/** Those of the extension itself. */
const OWN = ["server.", "trace."];

/** The settings that are set for a place, by their dotted names as nested objects. */
export function settingsFor(scope: vscode.Uri | undefined): Record<string, unknown> {
  const folder = scope ?? vscode.workspace.workspaceFolders?.[0]?.uri;
  const configuration = vscode.workspace.getConfiguration(SECTION, folder ?? null);
  const settings: Record<string, unknown> = {};
  for (const key of serverKeys()) {
    if (isSet(configuration.inspect(key))) put(settings, key.split("."), configuration.get(key));
  }
  return settings;
}

function serverKeys(): string[] {
  const extension = vscode.extensions.getExtension("fxlsp.fxlsp");
  const manifest = extension?.packageJSON as { contributes: { configuration: { properties: object } } } | undefined;
  return Object.keys(manifest?.contributes.configuration.properties ?? {})
    .map((name) => name.slice(SECTION.length + 1))
    .filter((key) => !OWN.some((prefix) => key.startsWith(prefix)));
}

function isSet(found: { globalValue?: unknown; workspaceValue?: unknown; workspaceFolderValue?: unknown } | undefined) {
  const values = [found?.globalValue, found?.workspaceValue, found?.workspaceFolderValue];
  return values.some((value) => value !== undefined);
}

function put(target: Record<string, unknown>, [first = "", ...rest]: string[], value: unknown): void {
  if (rest.length === 0) target[first] = value;
  else put((target[first] ??= {}) as Record<string, unknown>, rest, value);
}
