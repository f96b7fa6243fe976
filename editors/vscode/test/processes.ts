// The processes of this run, which all carry a mark in their environment.
import * as assert from "node:assert/strict";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import * as path from "node:path";
import { eventually } from "./framework";

interface Process {
  pid: number;
  parent: number;
  command: string;
}

/** The servers of this run. */
export function servers(): number[] {
  return ours()
    .filter(({ command }) => command.includes("fxlsp\0serve"))
    .map(({ pid }) => pid);
}

/** Waits until there is one server at most, and nothing that it, or one before it, has left behind. */
export async function nothingLeft(): Promise<void> {
  let left: Process[] = [];
  const patience = Date.now() + 30_000;
  await eventually(() => {
    const all = ours();
    const parents = new Map(all.map(({ pid, parent }) => [pid, parent]));
    // All that runs here was started by this extension host, or by a process that was.
    const isKept = (pid: number | undefined): boolean =>
      pid !== undefined && (pid === process.pid || isKept(parents.get(pid)));
    left = all.filter(({ pid }) => !isKept(pid));
    return (left.length === 0 && servers().length <= 1) || Date.now() > patience;
  });
  assert.deepEqual(left, []);
  assert.ok(servers().length <= 1, "two servers");
}

/** What runs on Python: the editor itself is all Node. */
function ours(): Process[] {
  const mark = `FXLSP_EDITOR_RUN=${process.env.FXLSP_EDITOR_RUN ?? "nothing"}`;
  return readdirSync("/proc")
    .map(Number)
    .filter((pid) => pid > 0)
    .flatMap((pid) => read(pid, mark) ?? []);
}

function read(pid: number, mark: string): Process | undefined {
  try {
    if (!readFileSync(`/proc/${pid}/environ`, "utf-8").split("\0").includes(mark)) return undefined;
    if (!path.basename(readlinkSync(`/proc/${pid}/exe`)).startsWith("python")) return undefined;
    const [, parent] = /^PPid:\s*(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf-8")) ?? [];
    return { pid, parent: Number(parent), command: readFileSync(`/proc/${pid}/cmdline`, "utf-8") };
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}
