// Runs in the extension host; what came out is read by dev/editors/vscode.
import { appendFileSync } from "node:fs";
import { tests, waitsAt } from "./framework";
import { nothingLeft } from "./processes";

/** Milliseconds for one test; the machine may be busy, and torch takes seconds to import. */
const LIMIT = 120_000;

export async function run(): Promise<void> {
  const report = (line: object) => {
    appendFileSync(process.env.FXLSP_TEST_RESULTS ?? "results.jsonl", `${JSON.stringify(line)}\n`);
  };
  const wanted = tests.filter(({ name }) => name.includes(process.env.FXLSP_TEST_NAMES ?? ""));
  for (const { name, body } of wanted) {
    const began = Date.now();
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_, reject) => {
      timer = setTimeout(() => {
        reject(new Error(`not done in ${LIMIT / 1000} s; it waited last ${waitsAt ?? "for nothing"}\n`));
      }, LIMIT);
    });
    try {
      await Promise.race([body(), late]);
      await nothingLeft();
      report({ name, milliseconds: Date.now() - began });
    } catch (error) {
      report({ name, milliseconds: Date.now() - began, error: error instanceof Error ? error.stack : String(error) });
    } finally {
      clearTimeout(timer);
    }
  }
  report({ done: true });
  // VS Code would end this process now. How it ends is the next thing to be tested (dev/editors/vscode/endings).
  await new Promise(() => undefined);
}
