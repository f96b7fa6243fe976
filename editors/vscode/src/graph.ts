// The graph of a model beside its source. It follows the edits, and a click opens the line.
import { readFile } from "node:fs/promises";
import * as vscode from "vscode";
import { ExecuteCommandRequest, type LanguageClient } from "vscode-languageclient/node";
import { type Picture, pictureOf, placeOfNode, sameDrawing, type SourcePlace } from "./picture";
import type { Status } from "./status";
import type { GraphViews, Session } from "./types";

const SHOW = "fxlsp.showGraph";
/** Milliseconds without an edit after which the places of a graph are looked up again. */
const REST = 400;

type Place = [uri: string, name: string];

/** As the server answers: docs/commands.md. */
interface Answer {
  path: string;
  model: string;
  node: string | null;
  modulePath: string | null;
}

/** What the page says: docs/graph.md. */
type PageMessage = { type: "open"; node: string; place: SourcePlace } | { type: "ready" } | { type: "chosen" };

/** Every graph that is open. */
export class Graphs implements GraphViews, vscode.Disposable {
  private readonly panels = new Map<string, GraphPanel>();
  private readonly listening: vscode.Disposable;
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly session: Session) {
    this.listening = vscode.workspace.onDidChangeTextDocument(({ document }) => {
      if (document.languageId === "python" && this.panels.size > 0) this.updateSoon();
    });
  }

  /** Shows a model's graph, and first of all a part of it, if `first` names one. Answers as the server does. */
  async show(client: LanguageClient, place: Place | undefined, first: unknown): Promise<Answer | null> {
    if (place === undefined) return null;
    const answer = await ask(client, place, first);
    if (answer === null || isOnlyAnswered(first)) return answer;
    const key = place.join("#");
    let panel = this.panels.get(key);
    if (panel === undefined) {
      panel = new GraphPanel(place, answer.model);
      this.panels.set(key, panel);
      panel.view.onDidDispose(() => this.panels.delete(key));
    }
    await panel.take(answer);
    panel.show(answer);
    // A step of the walkthrough: VS Code does not count the command of a lens.
    void vscode.commands.executeCommand("setContext", "fxlsp.graphShown", true);
    return answer;
  }

  /** A trace has ended, or another recipe counts: what is shown may be another graph. */
  sessionChanged({ tracing }: Status): void {
    if (tracing.length === 0) this.updateSoon(0);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.listening.dispose();
    for (const panel of this.panels.values()) panel.view.dispose();
  }

  private updateSoon(milliseconds = REST): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.update(), milliseconds);
  }

  private async update(): Promise<void> {
    const { client } = this.session;
    if (client === undefined) return;
    for (const panel of this.panels.values()) {
      const answer = await ask(client, panel.place, undefined, false);
      if (answer !== null) await panel.take(answer);
    }
  }
}

class GraphPanel {
  readonly view: vscode.WebviewPanel;
  /** As the server last drew it; its places are newer than those on the page. */
  private picture: Picture | undefined;
  private isReady = false;
  private first: Answer | undefined;

  constructor(
    readonly place: Place,
    model: string,
  ) {
    const beside = { viewColumn: vscode.ViewColumn.Beside, preserveFocus: true };
    this.view = vscode.window.createWebviewPanel("fxlsp.graph", `Graph: ${model}`, beside, {
      enableScripts: true,
      enableFindWidget: true,
      localResourceRoots: [],
      retainContextWhenHidden: true,
    });
    this.view.webview.onDidReceiveMessage((message: PageMessage) => void this.receive(message));
  }

  /** Shows a page that the server has written, unless it would look as what is there. */
  async take(answer: Answer): Promise<void> {
    const page = await readFile(answer.path, "utf-8");
    const picture = pictureOf(page);
    if (this.picture === undefined || !sameDrawing(picture, this.picture)) {
      this.isReady = false;
      this.view.webview.html = page;
    }
    this.picture = picture;
  }

  /** Brings it to the front, and in it what was asked for. */
  show(answer: Answer): void {
    this.view.reveal(undefined, true);
    this.first = answer;
    if (this.isReady) void this.reveal();
  }

  private async receive(message: PageMessage): Promise<void> {
    if (message.type === "ready") {
      this.isReady = true;
      await this.reveal();
    } else if (message.type === "open") {
      await open((this.picture && placeOfNode(this.picture, message.node)) ?? message.place);
    }
  }

  private async reveal(): Promise<void> {
    const { node = null, modulePath = null } = this.first ?? {};
    this.first = undefined;
    if (node !== null) await this.view.webview.postMessage({ type: "reveal", node });
    else if (modulePath !== null) await this.view.webview.postMessage({ type: "reveal", path: modulePath });
  }
}

/** Selects the source of a node, in the column where that file is open. */
async function open({ file, line, column, endLine, endColumn }: SourcePlace): Promise<void> {
  const document = await vscode.workspace.openTextDocument(vscode.Uri.file(file));
  const at = (row: number, codePoints: number) => {
    // The page counts code points from 1, VS Code UTF-16 units from 0.
    const text = document.lineAt(Math.min(row, document.lineCount) - 1).text;
    return new vscode.Position(
      row - 1,
      Array.from(text)
        .slice(0, codePoints - 1)
        .join("").length,
    );
  };
  const uri = document.uri.toString();
  const visible = vscode.window.visibleTextEditors.find((editor) => editor.document.uri.toString() === uri);
  const viewColumn = visible?.viewColumn ?? vscode.ViewColumn.One;
  const selection = new vscode.Range(at(line, column), at(endLine, endColumn));
  await vscode.window.showTextDocument(document, { selection, viewColumn });
}

async function ask(client: LanguageClient, place: Place, first: unknown, aloud = true): Promise<Answer | null> {
  const options = { ...(typeof first === "object" ? first : {}), show: false, quiet: !aloud };
  return (await client.sendRequest(ExecuteCommandRequest.type, {
    command: SHOW,
    arguments: [...place, options],
  })) as Answer | null;
}

function isOnlyAnswered(first: unknown): boolean {
  return typeof first === "object" && first !== null && "show" in first && first.show === false;
}
