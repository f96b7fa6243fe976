import * as assert from "node:assert/strict";
import { OneAtATime } from "../src/oneAtATime";
import { test } from "./framework";

test("work that is asked for while it runs runs once more, and never twice at once", async () => {
  const [runs, finish]: [number[], (() => void)[]] = [[], []];
  let underWay = 0;
  const work = new OneAtATime(async () => {
    runs.push(++underWay);
    await new Promise<void>((resolve) => finish.push(resolve));
    underWay -= 1;
  });
  const first = work.run();
  const others = [work.run(), work.run(), work.run()];
  finish[0]?.();
  await first;
  while (finish.length < 2) await Promise.resolve();
  finish[1]?.();
  await Promise.all(others);
  assert.deepEqual(runs, [1, 1]);
  await work.settled();
});

test("work that fails does not stop what follows", async () => {
  let runs = 0;
  const work = new OneAtATime(() => {
    runs += 1;
    return Promise.reject(new Error("no"));
  });
  await work.run();
  await work.run();
  assert.equal(runs, 2);
});
