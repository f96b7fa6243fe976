// What the parts of the extension know of each other: none of them imports the session, which imports them all.
import type * as vscode from "vscode";
import type { LanguageClient } from "vscode-languageclient/node";
import type { Status } from "./status";

/** How the server is started. */
export interface Launch {
  command: string;
  args: string[];
  /** Never a folder of the workspace, whose files Python would import. */
  cwd: string;
}

/** The server's life as the commands and views see it. */
export interface Session {
  readonly log: vscode.LogOutputChannel;
  /** Undefined while there is no server. */
  readonly client: LanguageClient | undefined;
  /** What the server reported last; undefined while there is none. */
  readonly lastStatus: Status | undefined;
  readonly graphs: GraphViews | undefined;
}

/** Every graph that is open. */
export interface GraphViews {
  /** Shows a model's graph, and answers as the server does; null if there is none to show. */
  show(client: LanguageClient, place: [uri: string, name: string] | undefined, first: unknown): Promise<unknown>;
  /** Follows a trace that has ended, or another recipe. */
  sessionChanged(status: Status): void;
}
