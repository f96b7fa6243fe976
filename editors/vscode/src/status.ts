// The status item: interpreter, torch, what is being traced, and what is stale.
import * as vscode from "vscode";

export const STATUS = "fxlsp/status";

/** As the server tells it: docs/commands.md. */
export interface Status {
  trusted: boolean;
  interpreters: Interpreter[];
  tracing: string[];
  stale: string[];
}

export interface Interpreter {
  folder: string;
  path: string | null;
  origin: string | null;
  python: string | null;
  torch: string | null;
  starting: boolean;
  failure: string | null;
}

interface Words {
  text: string;
  detail: string;
  isBusy?: boolean;
  isBad?: boolean;
  command?: vscode.Command;
}

const LOG: vscode.Command = { title: "Log", command: "fxlsp.showLog" };
const TRUST: vscode.Command = { title: "Trust", command: "fxlsp.trust" };
const RESTART: vscode.Command = { title: "Restart", command: "fxlsp.restartServer" };

export class StatusItem implements vscode.Disposable {
  private readonly item = vscode.languages.createLanguageStatusItem("fxlsp", { language: "python" });

  constructor() {
    this.item.name = "fxlsp";
    this.starting();
  }

  starting(): void {
    this.put({ text: "fxlsp is starting", detail: "", isBusy: true });
  }

  stopped(reason = "The server is not running"): void {
    this.put({ text: "fxlsp is not running", detail: reason, isBad: true, command: RESTART });
  }

  show(status: Status): void {
    this.put(wordsOf(status));
  }

  dispose(): void {
    this.item.dispose();
  }

  private put({ text, detail, isBusy = false, isBad = false, command = LOG }: Words): void {
    this.item.text = text;
    this.item.detail = detail;
    this.item.busy = isBusy;
    this.item.severity = isBad ? vscode.LanguageStatusSeverity.Warning : vscode.LanguageStatusSeverity.Information;
    this.item.command = command;
  }
}

/** How the session stands, in a few words. */
export function wordsOf({ trusted, interpreters, tracing, stale }: Status): Words {
  const detail = interpreters.map(interpreterText).join("; ");
  const failed = interpreters.find(({ failure }) => failure !== null);
  const torch = [...new Set(interpreters.flatMap((each) => each.torch ?? []))].join(", ");
  if (!trusted)
    return { text: "fxlsp: workspace not trusted", detail: "Nothing is traced", isBad: true, command: TRUST };
  if (failed) return { text: "fxlsp cannot trace", detail: failed.failure ?? "", isBad: true };
  if (tracing.length > 0) return { text: `fxlsp: tracing ${tracing.join(", ")}`, detail, isBusy: true };
  if (interpreters.some(({ starting }) => starting)) return { text: "fxlsp: importing torch", detail, isBusy: true };
  if (stale.length > 0) return { text: `fxlsp: ${stale.join(", ")} stale`, detail, isBad: true };
  return { text: torch ? `fxlsp: torch ${torch}` : "fxlsp", detail };
}

function interpreterText({ path, python }: Interpreter): string {
  return python === null ? (path ?? "no interpreter") : `${path ?? ""} (Python ${python})`;
}
