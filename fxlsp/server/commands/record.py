"""``fxlsp.record``: how to run a command of the user's so that it is recorded.

Its arguments are the URI of a document, which decides on folder and interpreter, and the command as one would type it;
without one it is that of the setting ``record.command``. The answer is ``{"command", "argv", "cwd"}``, with an empty
``argv`` where there is no command, for which the editor then asks its user. The server runs nothing: a recording is
made where the user sees it, in a terminal, to which no request of the protocol reaches.
"""

from __future__ import annotations

import os
import re
import shlex
import sys
from collections.abc import Sequence
from typing import Any

from fxlsp.engine.state.snapshot import InterpreterState
from fxlsp.server.commands.ask_user import show_warning
from fxlsp.server.shared.command_names import RECORD
from fxlsp.server.shared.server import Server


def register(server: Server) -> None:
    @server.command(RECORD)
    def record(ls: Server, *arguments: Any) -> dict[str, Any] | None:
        uri, text = (*arguments, None, None)[:2]
        snapshot = ls.engine.snapshot
        path = ls.path_of(uri) if uri else next(iter(snapshot.documents), "")
        if not snapshot.is_trusted(path):
            # The setting may come from the workspace.
            show_warning(ls, "Trust this workspace first: a run executes its code.")
            return None
        text = text or snapshot.record_command_of(path) or ""
        interpreter = snapshot.interpreter_of(path)
        try:
            words = split_command(text)
        except ValueError as error:
            show_warning(ls, f"{text} is not a command: {error}.")
            return None
        argv = [*own_command(), *record_arguments(words, interpreter)] if words else []
        return {"command": text, "argv": argv, "cwd": _folder(path, interpreter)}


def split_command(text: str, is_windows: bool = os.name == "nt") -> list[str]:
    """Return the words of a command as a shell reads them.

    Raises:
        ValueError: a quotation does not end.
    """
    if not is_windows:
        return shlex.split(text)
    # A backslash separates folders; double quotation marks hold together what is between them.
    if text.count('"') % 2:
        raise ValueError("No closing quotation")
    return [word.replace('"', "") for word in re.findall(r'(?:[^\s"]|"[^"]*")+', text)]


def record_arguments(words: Sequence[str], interpreter: InterpreterState | None) -> list[str]:
    """Return the arguments of ``fxlsp`` that record a command with an interpreter."""
    known = None if interpreter is None else interpreter.interpreter
    return ["record", *([] if known is None else ["--python", known.path]), "--", *words]


def own_command() -> list[str]:
    """Return the command that this server was started with, without its arguments."""
    count = len(sys.argv) - 1
    started = sys.orig_argv[1 : len(sys.orig_argv) - count]
    return [sys.executable, *started]


def _folder(path: str, interpreter: InterpreterState | None) -> str:
    """Return the workspace folder of a file, else the folder that contains it."""
    folder = "" if interpreter is None else interpreter.folder
    return folder or os.path.dirname(path) or os.getcwd()
