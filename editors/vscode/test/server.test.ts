// The server's life as a user meets it: it crashes, is restarted, and there is one at a time.
import * as assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import * as vscode from "vscode";
import { click, eventually, information, lens, opened, test } from "./framework";
import { servers } from "./processes";

test("a server that was killed is started again, and answers", async () => {
  const document = await opened("twice.py");
  await lens(document, /traceable/);
  const [before] = servers();
  assert.ok(before);
  process.kill(before, "SIGKILL");
  await eventually(() => servers().some((pid) => pid !== before));
  await click(await lens(document, /traceable/));
});

test("a server that was written to after its end is started again, and answers", async () => {
  const document = await opened("twice.py");
  await lens(document, /traceable/);
  const [before] = servers();
  assert.ok(before);
  process.kill(before, "SIGKILL");
  // It has ended, and the editor, which is held up here, does not know that when it writes.
  while (!/^State:\s*Z/m.test(readFileSync(`/proc/${before}/status`, "utf-8"))) continue;
  await Promise.allSettled([information(), information()]);
  await eventually(() => servers().some((pid) => pid !== before));
  await click(await lens(document, /traceable/));
});

test("however often a restart is asked for, one server is left", async () => {
  const document = await opened("twice.py");
  await lens(document, /traceable/);
  const [before] = servers();
  const asked = Array.from({ length: 5 }, () => vscode.commands.executeCommand("fxlsp.restartServer"));
  await Promise.all(asked);
  const after = servers();
  assert.equal(after.length, 1, after.join(", "));
  assert.notEqual(after[0], before);
  await lens(document, /traceable/);
});

test("debug information names the interpreter, torch and the settings", async () => {
  const document = await opened("twice.py");
  await lens(document, /traceable/);
  await vscode.commands.executeCommand("fxlsp.debugInformation");
  const text = vscode.window.activeTextEditor?.document.getText() ?? "{}";
  const facts = JSON.parse(text) as { status: { interpreters: { torch: string }[] }; server: { state: string } };
  assert.equal(facts.server.state, "Running");
  assert.match(facts.status.interpreters[0]?.torch ?? "", /^2\./);
  await vscode.commands.executeCommand("workbench.action.revertAndCloseActiveEditor");
});
