"""Failures for traces whose worker died, with the line that was running."""

from __future__ import annotations

import os
import re
import signal
from collections.abc import Sequence
from itertools import dropwhile
from pathlib import Path

from fxlsp.report.codes import DIED
from fxlsp.report.frontend_codes import died_code
from fxlsp.report.frontends import FrontendProblem, FrontendResult, FrontendVerdict, OtherFrontend
from fxlsp.report.locations import Location
from fxlsp.report.problems import Failure
from fxlsp.source.text.documents import Document, read_document
from fxlsp.source.text.syntax import captures
from fxlsp.wire.messages import LimitKind, StackFrame, TraceRequest, WorkerDied

_SIGNAL_NAMES = {
    "SIGSEGV": "a segmentation fault (SIGSEGV)",
    "SIGBUS": "a bus error (SIGBUS)",
    "SIGFPE": "an arithmetic error (SIGFPE)",
    "SIGILL": "an illegal instruction (SIGILL)",
    "SIGABRT": "an abort (SIGABRT)",
    "SIGKILL": "SIGKILL, as when the system runs out of memory",
}

_WARNING = re.compile(r"^\S.*:\d+: \w*Warning: ")
"""First line of a warning: ``net.py:3: UserWarning: ...``; the line of code that gave it is the last one."""

_OUR_FOLDER = os.path.join(Path(__file__).absolute().parents[2], "")
_LIBRARY = re.compile(r"[/\\](?:(?:site|dist)-packages|lib[/\\]python3\.\d+t?|Lib)[/\\]")
"""A part of the path of Python's own modules, on Unix and on Windows, and of installed packages."""

_STAGE_NAMES = {
    "load": "while loading",
    "search": "while searching arguments and inputs",
    "construct": "while building",
    "trace": "while tracing",
    "values": "while computing shapes",
    "checks": "while checking",
}
_WORK: dict[OtherFrontend | None, tuple[str, str]] = {
    None: ("Tracing", "traced"),
    "export": ("Exporting", "exported"),
    "compile": ("Compiling", "compiled"),
}
"""Verbs for what a worker does, by the front end of its request."""
_ENDS: dict[LimitKind | None, tuple[FrontendResult, str]] = {
    None: ("crashed", "crashed"),
    "time": ("timeout", "ran out of time"),
    "memory": ("limit", "took too much memory"),
    "processes": ("limit", "started too many processes"),
    "written": ("limit", "wrote too many temporary files"),
}
"""Result and summary of a front end whose worker died, by the limit at which it was killed."""


def crash_failure(message: WorkerDied, request: TraceRequest) -> Failure:
    """Return the failure that the death of a worker means, at the line that ran.

    Reads the file of that line. A search that a limit of time or memory ended says nothing of the model, which may be
    sound: its arguments were guessed.
    """
    frame = _responsible_frame(message.stack, request.roots)
    text = f"{_what_happened(message, request)}{_where(message, frame)}{_last_output(message)}"
    location = None if frame is None else _location(frame, request)
    needs = None
    ended = {"time": f"did not finish within {request.limits.seconds:g} s"}
    ended["memory"] = f"took more than {request.limits.megabytes} MB of memory"
    if message.stage == "search" and message.limit in ended:
        needs = f"a recipe, since the search for one {ended[message.limit]}"
    return Failure(str(request.target), DIED, text, location, needs=needs)


def crash_verdict(message: WorkerDied, frontend: OtherFrontend, failure: Failure) -> FrontendVerdict:
    """Return the verdict of a front end whose worker died, for which ``failure`` is the reason."""
    problem = FrontendProblem(failure.message, failure.message, failure.location, died_code(frontend))
    result, summary = _ENDS[message.limit]
    return FrontendVerdict(frontend, result, summary, (problem,))


def describe_exit(exit_code: int | None) -> str:
    """Return text for an exit code as :mod:`subprocess` reports it.

    Examples: ``exit code 3``, ``a segmentation fault (SIGSEGV)``.
    """
    if exit_code is None:
        return "an unknown end"
    return f"exit code {exit_code}" if exit_code >= 0 else describe_signal(-exit_code)


def describe_signal(number: int) -> str:
    try:
        name = signal.Signals(number).name
    except ValueError:
        name = f"signal {number}"
    return _SIGNAL_NAMES.get(name, name)


def _what_happened(message: WorkerDied, request: TraceRequest) -> str:
    name, limits = request.target.name, request.limits
    working, worked = _WORK[request.frontend]
    if message.limit == "time":
        return f"{working} {name} did not finish within {limits.seconds:g} s"
    if message.limit == "memory":
        return f"{working} {name} took more than {limits.megabytes} MB of memory"
    if message.limit == "processes":
        return f"{working} {name} started more than {limits.processes} processes"
    if message.limit == "written":
        return f"{working} {name} wrote more than {limits.written_megabytes} MB of temporary files"
    if message.signal is not None:
        return f"{working} {name} ended in {describe_signal(message.signal)}"
    return f"The process that {worked} {name} ended itself with {describe_exit(message.exit)}"


def _where(message: WorkerDied, frame: StackFrame | None) -> str:
    function = frame.function if frame is not None else ""
    where = "at top level" if function == "<module>" else f"in {function}" if function else ""
    position = ", ".join(part for part in (where, _STAGE_NAMES.get(message.stage or "", "")) if part)
    return f" (stopped {position})" if position else ""


def _last_output(message: WorkerDied) -> str:
    """Return the last line that a crashed worker printed, without Python's warnings.

    Not for a worker killed at a limit: its last output has nothing to do with its end.
    """
    lines = _without_last_warning([line.rstrip() for line in message.stderr_tail.split("\n") if line.strip()])
    return f". Its last output: {lines[-1].strip()[:300]}" if lines and message.limit is None else ""


def _without_last_warning(lines: Sequence[str]) -> Sequence[str]:
    """Return the lines before the last warning, if what was printed ends with that: with the line that gave it.

    A warning did not end the process. What is printed behind its indented line may be the reason, also if it ends with
    an indented line: ``terminate called after ...`` and ``  what():  ...``.
    """
    begin = next((number for number in range(len(lines) - 1, -1, -1) if _WARNING.search(lines[number])), None)
    if begin is None:
        return lines
    behind = lines[begin + 1 :]
    indented = list(dropwhile(lambda line: not line.startswith("  "), behind))
    ends_with_it = not behind or (indented and all(line.startswith("  ") for line in indented))
    return _without_last_warning(lines[:begin]) if ends_with_it else lines


def _responsible_frame(stack: Sequence[StackFrame], roots: Sequence[str]) -> StackFrame | None:
    """Return the innermost workspace frame, else the innermost uninstalled one.

    None if all frames are of installed packages, Python and fxlsp.
    """
    ours = (frame for frame in stack if any(_below(frame.file, root) for root in roots))
    own = next((frame for frame in ours if "site-packages" not in frame.file), None)
    if own is not None:
        return own
    return next((frame for frame in stack if not _installed(frame.file)), None)


def _below(path: str, root: str) -> bool:
    folder = root.rstrip("/\\")
    return path.startswith((f"{folder}/", f"{folder}\\"))


def _installed(path: str) -> bool:
    return path.startswith(("<", _OUR_FOLDER)) or _LIBRARY.search(path) is not None


def _location(frame: StackFrame, request: TraceRequest) -> Location:
    """Return the location of the code on the frame's line.

    It starts after the indentation and ends before a comment.
    """
    document = Document("", frame.file, None, _text_of(frame.file, request))
    line = frame.line
    code = document.lines.line_text(line)[: _comment_column(document, line)].rstrip()
    start = len(code) - len(code.lstrip()) + 1
    return Location(frame.file, line, start, line, max(start, len(code)) + 1, frame.function or None)


def _comment_column(document: Document, line: int) -> int | None:
    """Return how many characters of a line precede its comment; None without one."""
    comments = captures(document.tree.root_node, "(comment) @comment").get("comment", [])
    start = next((node.start_point for node in comments if node.start_point.row == line - 1), None)
    return None if start is None else document.lines.from_bytes(start.row, start.column)[1] - 1


def _text_of(path: str, request: TraceRequest) -> str:
    if path in request.texts:
        return request.texts[path]
    try:
        return read_document(path).text
    except (OSError, UnicodeDecodeError, SyntaxError):
        return ""
