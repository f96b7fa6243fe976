// A Python environment of the extension's own, where nothing compiled comes along for the Python that is there.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import * as path from "node:path";
import { promisify } from "node:util";
import * as vscode from "vscode";
import type { Python } from "./pythons";

const run = promisify(execFile);

/** Its Python. It is made on first use, and only if the user agrees.
 *
 * @throws Error if the user does not, or it cannot be made.
 */
export async function privateEnvironment(
  context: vscode.ExtensionContext,
  log: vscode.LogOutputChannel,
  base: Python,
): Promise<string> {
  const { version } = context.extension.packageJSON as { version: string };
  const folder = path.join(context.globalStorageUri.fsPath, `python-${base.version.join(".")}-${version}`);
  const python =
    process.platform === "win32" ? path.join(folder, "Scripts", "python.exe") : path.join(folder, "bin", "python");
  const isComplete = path.join(folder, "complete");
  if (existsSync(isComplete)) return python;
  await agreed(folder);
  const requirements = path.join(context.extensionPath, "bundled", "requirements.txt");
  const steps: [string, string[]][] = [
    [base.path, ["-I", "-m", "venv", "--clear", folder]],
    [python, ["-I", "-m", "pip", "install", "--disable-pip-version-check", "--only-binary=:all:", "-r", requirements]],
  ];
  const location = vscode.ProgressLocation.Notification;
  await vscode.window.withProgress({ location, title: "fxlsp: making its environment" }, async () => {
    for (const [command, args] of steps) {
      log.info(`${command} ${args.join(" ")}`);
      const { stdout } = await run(command, args, { cwd: context.extensionPath });
      if (stdout) log.info(stdout);
    }
  });
  await vscode.workspace.fs.writeFile(vscode.Uri.file(isComplete), new Uint8Array());
  return python;
}

async function agreed(folder: string): Promise<void> {
  const make = "Make It";
  // An error: other messages hide themselves after some seconds, answered or not, and nothing would ever start.
  const picked = await vscode.window.showErrorMessage(
    `The server of fxlsp cannot start yet: it needs a few small Python packages (no torch), in an environment of its own at ${folder}. Your project's environment stays as it is. They are downloaded with pip.`,
    make,
    "Not Now",
  );
  if (picked !== make)
    throw new Error("its environment was not made. The command “fxlsp: Restart the Server” asks again.");
}
