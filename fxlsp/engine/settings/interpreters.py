"""Choice of the Python interpreter that traces the models of a folder."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fxlsp.report.codes import NO_INTERPRETER
from fxlsp.report.problems import Failure

InterpreterOrigin = Literal["setting", "editor", "environment", "server"]

OLDEST_PYTHON = (3, 10)
"""Oldest version that can trace; the supervisor itself refuses older ones."""

_IN_ENVIRONMENT = ("Scripts/python.exe",) if os.name == "nt" else ("bin/python", "bin/python3")


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python executable and why it was chosen."""

    path: str
    """Absolute path. Links are not resolved: the Python of a virtual environment is identified by its own path."""
    origin: InterpreterOrigin

    def describe(self) -> str:
        reasons = {
            "setting": "set by 'python'",
            "editor": "chosen in the editor",
            "environment": "virtual environment of the folder",
            "server": "the one that runs fxlsp",
        }
        return f"{self.path} ({reasons[self.origin]})"


class InterpreterError(Exception):
    """Error for a requested interpreter that does not exist or cannot be executed."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.failure = Failure("", NO_INTERPRETER, message)


def choose_interpreter(folder: str | None, setting: str | None = None, editor_choice: str | None = None) -> Interpreter:
    """Return the interpreter that traces the models of ``folder``.

    It is that of the setting, else of the editor, else of the virtual environment of the folder or of a folder above
    it, else the server's own.

    Raises:
        InterpreterError: the setting or the editor names something that is not an executable file. Another interpreter
            in its place would silently trace with the wrong packages.
    """
    if setting:
        return Interpreter(_executable(setting, folder, "The setting 'python'"), "setting")
    if editor_choice:
        return Interpreter(_executable(editor_choice, folder, "The editor"), "editor")
    for candidate in _environments(folder) if folder else ():
        return Interpreter(candidate, "environment")
    return Interpreter(sys.executable, "server")


def _executable(name: str, folder: str | None, chosen_by: str) -> str:
    """Return the absolute path of an interpreter.

    Args:
        name: a command, a path relative to ``folder``, or the folder of an environment.
        chosen_by: start of the message of the error, such as "The editor".

    Raises:
        InterpreterError: there is no such executable file.
    """
    expanded = os.path.expandvars(os.path.expanduser(name))
    path = Path(folder or "", expanded).absolute()
    # Environments before commands: an environment may have the name of a command, such as ``env``.
    own = next((path / inner for inner in _IN_ENVIRONMENT if _runs(path / inner)), None)
    if own is not None:
        return str(own)
    if os.path.basename(expanded) == expanded:
        path = Path(shutil.which(expanded) or path).absolute()
    if _runs(path):
        return str(path)
    what = "is not a Python executable" if path.exists() else "does not exist"
    raise InterpreterError(
        f"{chosen_by} names the interpreter {path}, which {what}. Name another, or none to have one found."
    )


def _environments(folder: str) -> Iterator[str]:
    start = Path(folder).absolute()
    for parent in (start, *start.parents):
        for name in (".venv", "venv"):
            for inner in _IN_ENVIRONMENT:
                if _runs(parent / name / inner):
                    yield str(parent / name / inner)


def _runs(path: Path) -> bool:
    return path.is_file() and os.access(path, os.X_OK)
