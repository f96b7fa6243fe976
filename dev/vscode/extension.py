"""The extension of ``editors/vscode``: its packages, checks and bundle."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys

from dev.vscode.tools import EXTENSION, Tools, npm_run


def build(tools: Tools, *, tests: bool = False) -> None:
    """Bundles the extension into ``dist``, its tests too if they are wanted.

    Raises:
        MissingError: a package cannot be installed.
        subprocess.CalledProcessError: it does not compile.
    """
    install_packages(tools)
    _node(tools, "esbuild.mjs", *(["--tests"] if tests else ["--minify"]))


def check(tools: Tools) -> None:
    """Compiler, linter and formatter.

    Raises:
        subprocess.CalledProcessError: one of them complains; it has said of what.
    """
    install_packages(tools)
    modules = "node_modules"
    _node(tools, f"{modules}/typescript/bin/tsc", "--noEmit")
    _node(tools, f"{modules}/eslint/bin/eslint.js", ".", "--max-warnings=0")
    _node(tools, f"{modules}/prettier/bin/prettier.cjs", "--check", "--log-level=warn", ".")


def install_packages(tools: Tools) -> None:
    """Those of package-lock.json, unless they are there."""
    lock = hashlib.sha256((EXTENSION / "package-lock.json").read_bytes()).hexdigest()
    stamp = EXTENSION / "node_modules" / ".fxlsp-lock"
    if stamp.exists() and stamp.read_text() == lock:
        return
    print(f"Installing the packages of {EXTENSION}", file=sys.stderr, flush=True)
    npm = shutil.which("npm")
    assert npm is not None
    # Without scripts: none of these packages needs its own.
    npm_run(tools.node, npm, EXTENSION, "ci", "--ignore-scripts")
    stamp.write_text(lock)


def _node(tools: Tools, *arguments: str) -> None:
    subprocess.run([str(tools.node), *arguments], cwd=EXTENSION, check=True)
