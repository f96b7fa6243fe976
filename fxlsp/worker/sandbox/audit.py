"""Audit hook that refuses connections, processes and writes elsewhere.

Only a scratch folder may be written to.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

_REFUSED = {
    "socket.connect": "open a connection",
    "socket.bind": "open a port",
    "socket.sendto": "send to another machine",
    "socket.sendmsg": "send to another machine",
    "socket.getaddrinfo": "look up a host",
    "socket.gethostbyname": "look up a host",
    "socket.gethostbyaddr": "look up a host",
    "subprocess.Popen": "start a process",
    "os.system": "start a process",
    "os.exec": "start a process",
    "os.fork": "start a process",
    "os.forkpty": "start a process",
    "os.posix_spawn": "start a process",
    "os.spawn": "start a process",
    "os.startfile": "start a process",
    "pty.spawn": "start a process",
    "_winapi.CreateProcess": "start a process",
}
_WRITES = {
    "os.mkdir",
    "os.remove",
    "os.rename",
    "os.rmdir",
    "os.link",
    "os.symlink",
    "os.truncate",
    "os.chmod",
    "os.chown",
    "os.utime",
    "os.setxattr",
    "sqlite3.connect",
}
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


class RefusedError(PermissionError):
    """The model's code tried a side effect that a trace must not have."""


def refuse_side_effects(scratch: str) -> None:
    """Make this process refuse sockets, subprocesses and writes outside ``scratch``.

    This cannot be undone. Temporary files go to ``scratch``.
    """
    set_scratch_folder(scratch)
    sys.dont_write_bytecode = True

    def audit(event: str, args: tuple[Any, ...]) -> None:
        if _Observed.by is not None:
            _Observed.by(event, args)
        if event in _REFUSED and not _Own.acts:
            raise RefusedError(f"fxlsp does not let a file {_REFUSED[event]} while it traces a model ({event})")
        if event == "open":
            path, _, flags = args
            if isinstance(flags, int) and flags & _WRITE_FLAGS and not _may_write(path):
                raise RefusedError(f"fxlsp does not let a file write while it traces a model: {_shown(path)}")
        elif event in _WRITES and not _may_write(args[0]):
            raise RefusedError(
                f"fxlsp does not let a file change the disk while it traces a model ({event}: {args[0]!r})"
            )
        elif event in ("os.kill", "os.killpg") and not _Own.acts and args[0] not in _this_process():
            raise RefusedError(f"fxlsp does not let a file signal other processes while it traces a model ({event})")

    sys.addaudithook(audit)
    _refuse_what_is_not_audited()


def set_scratch_folder(scratch: str) -> None:
    """Make ``scratch`` the only folder that may be written to."""
    tempfile.tempdir = scratch
    _Scratch.folder = os.path.join(os.path.realpath(scratch), "")


def is_in_scratch(path: str) -> bool:
    """Return whether a real path is the scratch folder or below it."""
    return os.path.join(path, "").startswith(_Scratch.folder)


class _Scratch:
    folder = ""


class _Observed:
    by: Callable[[str, tuple[Any, ...]], None] | None = None


def set_audit_observer(by: Callable[[str, tuple[Any, ...]], None] | None) -> None:
    """Call ``by`` with every audit event as well; None removes the observer."""
    _Observed.by = by


def _refuse_what_is_not_audited() -> None:
    """Refuse what C code does without an audit event.

    That is processes of ``multiprocessing``, and files that torch writes.
    """

    if sys.platform != "win32":
        import _posixsubprocess

        _posixsubprocess.fork_exec = _start
    save = torch.save

    def save_in_scratch(obj: object, f: Any, *args: Any, **kwargs: Any) -> None:
        if isinstance(f, (str, os.PathLike)) and not _may_write(f):
            raise RefusedError(f"fxlsp does not let a file write while it traces a model: {_shown(os.fspath(f))}")
        save(obj, f, *args, **kwargs)

    torch.save = save_in_scratch


def _start(*args: Any) -> int:
    raise RefusedError("fxlsp does not let a file start a process while it traces a model")


def _this_process() -> tuple[int, ...]:
    """Return the process ids that may be signalled: this process and its group."""
    return (0, os.getpid(), *((os.getpgid(0),) if hasattr(os, "getpgid") else ()))


class _Own:
    acts = False


@contextmanager
def own_processes_allowed() -> Iterator[None]:
    """Allow forks and kills by fxlsp itself inside this context.

    Without it, they are refused as those of a traced file are.
    """
    _Own.acts = True
    try:
        yield
    finally:
        _Own.acts = False


def _may_write(path: object) -> bool:
    if isinstance(path, int):
        # An open descriptor was checked when it was opened.
        return True
    try:
        real = os.path.realpath(os.fsdecode(path))  # type: ignore[arg-type]
    except (TypeError, ValueError):
        return False
    # A temporary file without a name is opened as its folder.
    return is_in_scratch(real) or real == os.devnull


def _shown(path: object) -> str:
    return os.fsdecode(path) if isinstance(path, (str, bytes)) else repr(path)
