import * as assert from "node:assert/strict";
import { CloseAction, ErrorAction } from "vscode-languageclient/node";
import { StartsAgain } from "../src/crashes";
import { test } from "./framework";

test("a message that cannot be written does not end the client", () => {
  assert.equal(new StartsAgain().error().action, ErrorAction.Continue);
});

test("a server that crashes all the time is not started again, one that crashes now and then is", () => {
  const times = [0, 1, 2, 3, 4, 200_000, 400_000];
  const handler = new StartsAgain(() => times.shift() ?? 0);
  const actions = [...times].map(() => handler.closed().action);
  const { Restart, DoNotRestart } = CloseAction;
  assert.deepEqual(actions, [Restart, Restart, Restart, Restart, DoNotRestart, Restart, Restart]);
});
