// What the stand-ins for the Python extensions share: no package registry has the extensions themselves.
// What they export is of the types that are published for them, and a test chooses what they say.
import * as vscode from "vscode";

/** What a stand-in exports beside what it stands for. */
export interface StandIn {
  /** Chooses the interpreter of a folder, as a user does. */
  choose(folder: vscode.Uri, python: string): void;
  /** How often it was asked for an interpreter. */
  timesAsked(): number;
}

/** Which interpreter counts for which folder. */
export class Choices<Change> {
  private readonly chosen = new Map<string, string>();
  private readonly changes = new vscode.EventEmitter<Change>();
  readonly onDidChange = this.changes.event;
  private asked = 0;

  constructor(private readonly changeOf: (folder: vscode.Uri, python: string) => Change) {}

  of(place: vscode.Uri | undefined): string | undefined {
    this.asked += 1;
    const folder = place && vscode.workspace.getWorkspaceFolder(place);
    return this.chosen.get((folder?.uri ?? place ?? "").toString());
  }

  readonly standIn: StandIn = {
    choose: (folder, python) => {
      this.chosen.set(folder.toString(), python);
      this.changes.fire(this.changeOf(folder, python));
    },
    timesAsked: () => this.asked,
  };
}
