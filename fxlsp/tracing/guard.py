"""What a traced file may not do: open connections, start processes, write outside a scratch folder."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

_REFUSED = {
    "socket.connect": "open a connection",
    "socket.bind": "open a port",
    "socket.getaddrinfo": "look up a host",
    "subprocess.Popen": "start a process",
    "os.system": "start a process",
    "os.exec": "start a process",
    "os.fork": "start a process",
    "os.forkpty": "start a process",
    "os.posix_spawn": "start a process",
    "os.spawn": "start a process",
    "pty.spawn": "start a process",
}
_WRITES = {"os.mkdir", "os.remove", "os.rename", "os.rmdir", "os.link", "os.symlink", "os.truncate", "os.chmod"}
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class RefusedError(PermissionError):
    """The model's file tried something that a trace must not do."""


def refuse_side_effects(scratch: str) -> None:
    """From now on this process refuses sockets, processes and writes outside ``scratch``; there is no way back.

    Temporary files go to ``scratch``.
    """
    tempfile.tempdir = scratch
    sys.dont_write_bytecode = True
    scratch = os.path.join(os.path.realpath(scratch), "")

    def audit(event: str, args: tuple[Any, ...]) -> None:
        if event in _REFUSED and not _Own.forks:
            raise RefusedError(f"fxlsp does not let a file {_REFUSED[event]} while it traces a model ({event})")
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & _WRITE_FLAGS and not _may_write(path, scratch):
                raise RefusedError(f"fxlsp does not let a file write while it traces a model: {_shown(path)}")
        elif event in _WRITES and not _may_write(args[0], scratch):
            raise RefusedError(
                f"fxlsp does not let a file change the disk while it traces a model ({event}: {args[0]!r})"
            )

    sys.addaudithook(audit)


class _Own:
    forks = False


@contextmanager
def own_fork() -> Iterator[None]:
    """While this lasts, this process may fork: it is not a traced file that wants to."""
    _Own.forks = True
    try:
        yield
    finally:
        _Own.forks = False


def _may_write(path: object, scratch: str) -> bool:
    if isinstance(path, int):
        # An open descriptor: whoever opened it was asked then.
        return True
    try:
        real = os.path.realpath(os.fsdecode(path))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    return real.startswith(scratch) or real == os.devnull


def _shown(path: object) -> str:
    return os.fsdecode(path) if isinstance(path, (str, bytes)) else repr(path)
