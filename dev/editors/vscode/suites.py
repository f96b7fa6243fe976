"""Workspaces, extensions and endings of the extension's own test suites."""

from __future__ import annotations

import json
import shutil
import sys
import venv
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from dev.editors.vscode.endings import Ending, is_asked_to_quit, is_killed, loses_its_window
from dev.editors.vscode.tools import EXTENSION
from dev.environment import PROJECT

FIXTURES = EXTENSION / "test" / "workspace"


@dataclass(frozen=True)
class Suite:
    """The tests of ``editors/vscode/test/NAME.suite.ts``, which share one VS Code."""

    name: str
    workspace: Callable[[Path], Path]
    """Fills a folder; returns what to open."""
    ending: Ending
    beside: tuple[str, ...] = ()
    """Extensions of ``editors/vscode/test/beside`` that are installed too."""
    asks_for_trust: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict)

    def prepare(self, temporary: Path) -> Path:
        """Create the workspace, which the tests may change.

        Returns:
            What to open.
        """
        folder = temporary.resolve() / "workspace"
        folder.mkdir()
        return self.workspace(folder)


def one_folder(folder: Path) -> Path:
    """Copy the fixtures, and all examples, into a folder."""
    shutil.copytree(FIXTURES, folder, dirs_exist_ok=True)
    for example in (PROJECT / "examples").glob("*.py"):
        shutil.copy(example, folder)
    return folder


def two_folders(folder: Path) -> Path:
    """Create two folders, each with an interpreter of its own.

    Only that interpreter has the module from which the folder's model takes a width. A third interpreter is beside
    them, for the user to choose.
    """
    for name, width in (("one", 3), ("two", 5), ("three", 7)):
        (folder / name).mkdir()
        make_interpreter(folder / name / ".venv", f"WIDTH = {width}\n")
        shutil.copy(FIXTURES / "width.py", folder / name)
    workspace = folder / "both.code-workspace"
    workspace.write_text(json.dumps({"folders": [{"path": "one"}, {"path": "two"}]}), encoding="utf-8")
    return workspace


def untrusted_folder(folder: Path) -> Path:
    """Create a folder whose settings name programs.

    Each program records that it ran, and does its work.
    """
    shutil.copy(FIXTURES / "twice.py", folder)
    serve = _recording_program(folder, "server", [sys.executable, "-m", "fxlsp", "serve"])
    python = _recording_program(folder, "python", [sys.executable])
    settings = {"fxlsp.server.command": [str(serve)], "fxlsp.python": str(python)}
    (folder / ".vscode").mkdir()
    (folder / ".vscode" / "settings.json").write_text(json.dumps(settings), encoding="utf-8")
    return folder


def make_interpreter(folder: Path, module: str = "") -> Path:
    """Create an environment with all packages of this Python.

    Args:
        folder: of the environment.
        module: text of its module ``chosen``.
    """
    venv.create(folder, with_pip=False, symlinks=True)
    (packages,) = folder.glob("lib/python3.*/site-packages")
    found = [path for path in sys.path if path.endswith("-packages")]
    (packages / "base.pth").write_text("".join(f"{path}\n" for path in found), encoding="utf-8")
    (packages / "chosen.py").write_text(module, encoding="utf-8")
    return folder / "bin" / "python"


def _recording_program(folder: Path, name: str, command: list[str]) -> Path:
    program = folder / f"{name}.sh"
    words = " ".join(f"'{word}'" for word in command)
    program.write_text(f'#!/bin/sh\ntouch "{folder}/{name}.ran"\nexec {words} "$@"\n', encoding="utf-8")
    program.chmod(0o755)
    return program


SUITES = (
    Suite("features", one_folder, is_asked_to_quit, settings={"fxlsp.python": sys.executable}),
    Suite("folders", two_folders, loses_its_window, beside=("ms-python.python",)),
    Suite(
        "trust",
        untrusted_folder,
        is_killed,
        beside=("ms-python.python", "ms-python.vscode-python-envs"),
        asks_for_trust=True,
    ),
)
