// What the status item says of a session.
import * as assert from "node:assert/strict";
import { type Interpreter, type Status, wordsOf } from "../src/status";
import { test } from "./framework";

const INTERPRETER: Interpreter = {
  folder: "/work",
  path: "/project/.venv/bin/python",
  origin: "the .venv of the folder",
  python: "3.12.1",
  torch: "2.8.0",
  starting: false,
  failure: null,
};
const RESTING: Status = { trusted: true, interpreters: [INTERPRETER], tracing: [], stale: [] };

test("the status names torch, and in its detail the interpreter and its Python", () => {
  assert.deepEqual(wordsOf(RESTING), {
    text: "fxlsp: torch 2.8.0",
    detail: "/project/.venv/bin/python (Python 3.12.1)",
  });
});

test("the status names each torch once, and every interpreter, where folders have their own", () => {
  const other = { ...INTERPRETER, path: "/other/python", torch: "2.6.0" };
  const { text, detail } = wordsOf({ ...RESTING, interpreters: [INTERPRETER, { ...INTERPRETER }, other] });
  assert.equal(text, "fxlsp: torch 2.8.0, 2.6.0");
  assert.equal(detail.split("; ").length, 3);
});

test("the status names what is traced, and is busy", () => {
  const { text, isBusy } = wordsOf({ ...RESTING, tracing: ["Net", "Head"], stale: ["Other"] });
  assert.deepEqual([text, isBusy], ["fxlsp: tracing Net, Head", true]);
});

test("the status says that torch is being imported, and is busy", () => {
  const starting = { ...INTERPRETER, python: null, torch: null, starting: true };
  const { text, detail, isBusy } = wordsOf({ ...RESTING, interpreters: [starting] });
  assert.deepEqual([text, detail, isBusy], ["fxlsp: importing torch", "/project/.venv/bin/python", true]);
});

test("the status warns of what is stale", () => {
  const { text, isBad } = wordsOf({ ...RESTING, stale: ["Net"] });
  assert.deepEqual([text, isBad], ["fxlsp: Net stale", true]);
});

test("the status warns where nothing can be traced, and why", () => {
  const failed = { ...INTERPRETER, failure: "there is no torch in it" };
  const { text, detail, isBad } = wordsOf({ ...RESTING, interpreters: [failed] });
  assert.deepEqual([text, detail, isBad], ["fxlsp cannot trace", "there is no torch in it", true]);
});

test("the status of a workspace that is not trusted offers trust, whatever else is to be told", () => {
  const { text, command } = wordsOf({ ...RESTING, trusted: false, stale: ["Net"] });
  assert.equal(text, "fxlsp: workspace not trusted");
  assert.equal(command?.command, "fxlsp.trust");
});
