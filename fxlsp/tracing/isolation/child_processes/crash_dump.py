"""Crash dumps: the running stack of a dying worker, written to a private pipe.

They cover fatal signals (``faulthandler``), the time limit (its watchdog thread, which works while C code holds the
interpreter), and ``os._exit`` and ``os.abort``, which leave no information themselves.
"""

from __future__ import annotations

import faulthandler
import os
import re
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from ....wire.messages import StackFrame

TIME_LIMIT_MARK = "Timeout ("
"""Start of faulthandler's output at the time limit."""
_ALL_THREADS = b"(all threads)\n"


def arrange_crash_dump(pipe: int, seconds: float) -> None:
    """Make this process dump its stack to ``pipe`` if it crashes, exits or times out.

    Times out means that it is still running after ``seconds``; it then exits.
    """
    _Arranged.pipe = pipe
    faulthandler.enable(file=pipe, all_threads=False)
    set_time_limit(seconds)
    for name in ("_exit", "abort"):
        setattr(os, name, _after_dump(getattr(os, name), pipe))
    os.kill = _kill_after_dump(os.kill, pipe)


class _Arranged:
    pipe = -1
    deadline = 0.0


def set_time_limit(seconds: float) -> None:
    """Set the time limit to ``seconds`` from now."""
    _Arranged.deadline = time.monotonic() + seconds
    faulthandler.dump_traceback_later(seconds, exit=True, file=_Arranged.pipe)


@contextmanager
def time_limit_suspended() -> Iterator[None]:
    """Stop the watchdog thread of the time limit inside this context, for a fork.

    A forked process lacks the thread and would wait for its end forever when it sets a limit of its own.
    """
    faulthandler.cancel_dump_traceback_later()
    try:
        yield
    finally:
        set_time_limit(max(0.001, _Arranged.deadline - time.monotonic()))


def disable_crash_dump() -> None:
    """Redirect the crash dump of a forked process to nowhere.

    It would be mixed with that of its parent in the same pipe.
    """
    if _Arranged.pipe >= 0:
        with open(os.devnull, "wb") as nothing:
            os.dup2(nothing.fileno(), _Arranged.pipe)


def dump_all_threads(pipe: int) -> None:
    """Write the stacks of all threads to ``pipe``, and that this is all: the main thread, which traces, comes last."""
    faulthandler.dump_traceback(file=pipe, all_threads=True)
    os.write(pipe, _ALL_THREADS)


def has_all_threads(dumped: bytes) -> bool:
    """Return whether :func:`dump_all_threads` has written everything."""
    return dumped.endswith(_ALL_THREADS)


def _after_dump(end: Callable[..., Any], pipe: int) -> Callable[..., Any]:
    def ending(*args: Any) -> Any:
        faulthandler.dump_traceback(file=pipe, all_threads=False)
        return end(*args)

    return ending


def _kill_after_dump(kill: Callable[[int, int], None], pipe: int) -> Callable[[int, int], None]:
    def killing(pid: int, signal: int, /) -> None:
        if pid == os.getpid():
            faulthandler.dump_traceback(file=pipe, all_threads=False)
        kill(pid, signal)

    return killing


_ENTRY = re.compile(r'^  File "(?P<file>.*)", line (?P<line>\d+) in (?P<function>.*)$')


def parse_stack(text: str) -> tuple[StackFrame, ...]:
    """Return the stack frames of faulthandler's output, innermost first.

    If there are several dumps, they are those of the first thread in the last one.
    """
    entries: list[StackFrame] = []
    for line in text.splitlines():
        match = _ENTRY.match(line)
        if match is not None:
            entries.append(StackFrame(_unescaped(match["file"]), int(match["line"]), match["function"]))
        elif "most recent call first" in line:
            entries = []
    return tuple(entries)


def _unescaped(file: str) -> str:
    """Return a path with faulthandler's escapes decoded.

    It writes ASCII: other characters as ``\\xe9``, ``\\u1234`` or ``\\U00012345``.
    """
    return re.sub(
        r"\\x([0-9a-f]{2})|\\u([0-9a-f]{4})|\\U([0-9a-f]{8})",
        lambda match: chr(int(next(group for group in match.groups() if group), 16)),
        file,
    )
