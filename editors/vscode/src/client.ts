// The language client: what it tells the server, and what it does itself of what the server asks for.
import * as vscode from "vscode";
import {
  type ClientCapabilities,
  type ConfigurationParams,
  type FeatureState,
  LanguageClient,
  RevealOutputChannelOn,
  type StaticFeature,
} from "vscode-languageclient/node";
import { execute } from "./commands";
import { StartsAgain } from "./crashes";
import type { Interpreters } from "./interpreter";
import { SECTION, settingsFor } from "./settings";
import type { Launch, Session } from "./types";

const DOCUMENTS = [
  { language: "python", scheme: "file" },
  { language: "python", scheme: "untitled" },
  // The cells of notebooks, which travel with their notebook.
  { language: "python", notebook: "*" },
];

/** A client for one server; a further one needs another. */
export function makeClient(launch: Launch, session: Session, interpreters: Interpreters): LanguageClient {
  const client = new LanguageClient(
    "fxlsp",
    "fxlsp",
    { command: launch.command, args: launch.args, options: { cwd: launch.cwd } },
    {
      documentSelector: DOCUMENTS,
      outputChannel: session.log,
      revealOutputChannelOn: RevealOutputChannelOn.Never,
      errorHandler: new StartsAgain(),
      // Asked for again when it is started after a crash.
      initializationOptions: () => ({ trusted: vscode.workspace.isTrusted, interpreter: interpreters.known }),
      middleware: {
        executeCommand: (command, args: unknown[], next) =>
          execute(session, client, command, args, (name, given) => next(name, given) as Promise<unknown>),
        provideCodeLenses: async (document, token, next) => {
          const lenses = await next(document, token);
          if (lenses?.length) void vscode.commands.executeCommand("setContext", "fxlsp.hasModels", true);
          return lenses;
        },
        workspace: {
          configuration: async (params, token, next) => {
            const answers = await next(params, token);
            return Array.isArray(answers) ? withSettings(params, answers, interpreters) : answers;
          },
        },
      },
    },
  );
  client.registerFeature(new StatusCapability());
  return client;
}

/** Of our own section only what the user has set: a default of VS Code's would hide what pyproject.toml says. */
async function withSettings(
  params: ConfigurationParams,
  answers: unknown[],
  interpreters: Interpreters,
): Promise<unknown[]> {
  return Promise.all(
    params.items.map(async ({ section, scopeUri }, index) => {
      if (section !== SECTION) return answers[index];
      const scope = scopeUri === undefined ? undefined : vscode.Uri.parse(scopeUri);
      return { ...settingsFor(scope), interpreter: await interpreters.of(scope) };
    }),
  );
}

/** Announces that the status is shown here. */
class StatusCapability implements StaticFeature {
  fillClientCapabilities(capabilities: ClientCapabilities): void {
    capabilities.experimental = { fxlspStatus: true };
  }

  initialize(): void {
    // There is nothing to do.
  }

  getState(): FeatureState {
    return { kind: "static" };
  }

  clear(): void {
    // Nor anything to undo.
  }
}
