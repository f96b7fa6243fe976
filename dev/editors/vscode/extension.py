"""The extension of ``editors/vscode``: its packages, checks and bundle."""

from __future__ import annotations

import hashlib
import subprocess
import sys
from pathlib import Path

from dev.editors.vscode.tools import EXTENSION, npm_run


def build(node: Path, *, tests: bool = False) -> None:
    """Bundle the extension into ``dist``, optionally its tests too.

    Raises:
        MissingError: a package cannot be installed.
        subprocess.CalledProcessError: it does not compile.
    """
    install_packages(node)
    _run(node, "esbuild.mjs", *(["--tests"] if tests else ["--minify"]))


def check(node: Path) -> None:
    """Run compiler, linter and formatter.

    Raises:
        subprocess.CalledProcessError: one of them fails; it has printed the reason.
    """
    install_packages(node)
    modules = "node_modules"
    _run(node, f"{modules}/typescript/bin/tsc", "--noEmit")
    _run(node, f"{modules}/eslint/bin/eslint.js", ".", "--max-warnings=0")
    _run(node, f"{modules}/prettier/bin/prettier.cjs", "--check", "--log-level=warn", ".")


def install_packages(node: Path) -> None:
    """Install the packages of package-lock.json, unless they are present."""
    lock = hashlib.sha256((EXTENSION / "package-lock.json").read_bytes()).hexdigest()
    stamp = EXTENSION / "node_modules" / ".fxlsp-lock"
    if stamp.exists() and stamp.read_text() == lock:
        return
    print(f"Installing the packages of {EXTENSION}", file=sys.stderr, flush=True)
    # Without scripts: none of these packages needs them.
    npm_run(node, EXTENSION, "ci", "--ignore-scripts")
    stamp.write_text(lock)


def _run(node: Path, *arguments: str) -> None:
    subprocess.run([str(node), *arguments], cwd=EXTENSION, check=True)
