"""Audit hook that refuses connections, processes and changes of files.

Only a scratch folder may be written to. The hook names what was refused; on Linux, :mod:`.containment` refuses it also
where no hook is called.
"""

from __future__ import annotations

import errno
import functools
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, suppress
from typing import Any

from ..replacement import replaced
from ..torch_private import native_writers
from .semaphores import keep_semaphores_local

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
_CHANGES: dict[str, tuple[tuple[int, int | None], ...]] = {
    "os.mkdir": ((0, 2),),
    "os.remove": ((0, 1),),
    "os.rmdir": ((0, 1),),
    # Both ends: moving a file away changes where it was, and a second name of a file is a way to write to it.
    "os.rename": ((0, 2), (1, 3)),
    "os.link": ((0, 2), (1, 3)),
    "os.symlink": ((1, 2),),
    "os.truncate": ((0, None),),
    "os.chmod": ((0, 2),),
    "os.chown": ((0, 3),),
    "os.chflags": ((0, None),),
    "os.utime": ((0, 3),),
    "os.setxattr": ((0, None),),
    "os.removexattr": ((0, None),),
    "sqlite3.connect": ((0, None),),
}
"""Audit events of changes on the disk: for each path, its argument and that of the folder that it is relative to."""
_OF_NAMES = ("os.mkdir", "os.remove", "os.rmdir", "os.rename", "os.link", "os.symlink")
"""Those that change names: a link is not followed."""
_NO_WRITES = "fxlsp does not let a file write while it traces a model: {}"
_WRITE_FLAGS = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


_REFUSALS = (errno.EACCES, errno.EPERM, errno.EXDEV)
"""Error numbers: the last one is Landlock's where a file would get into another folder."""


class RefusedError(PermissionError):
    """The model's code tried a side effect that a trace must not have."""


def is_refused_by_system(error: BaseException) -> bool:
    """Return whether an error looks like a refusal by the containment of this process.

    The path must be one that the user may change: Landlock does not affect what ``access`` reports.
    """
    if not isinstance(error, OSError) or error.errno not in _REFUSALS or isinstance(error, RefusedError):
        return False
    if error.filename is None:
        return True
    path = os.fsdecode(error.filename) if isinstance(error.filename, (str, bytes)) else ""
    return os.access(path if os.path.exists(path) else os.path.dirname(path) or os.curdir, os.W_OK)


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
            # What is given as a descriptor was checked when it was opened.
            if isinstance(flags, int) and flags & _WRITE_FLAGS and not isinstance(path, int) and not _may_write(path):
                raise RefusedError(_NO_WRITES.format(_shown(path)))
        elif event in _CHANGES and not _changes_only_scratch(event, args):
            paths = ", ".join(map(_shown, _changed_paths(event, args)))
            raise RefusedError(f"fxlsp does not let a file change the disk while it traces a model ({event}: {paths})")
        elif event in ("os.kill", "os.killpg") and not _Own.acts and args[0] not in _this_process():
            raise RefusedError(f"fxlsp does not let a file signal other processes while it traces a model ({event})")

    sys.addaudithook(audit)
    _refuse_what_is_not_audited()


def set_scratch_folder(scratch: str) -> None:
    """Make ``scratch`` the only folder that may be written to."""
    tempfile.tempdir = scratch
    for name in ("TMPDIR", "TEMP", "TMP"):
        # Native code looks there.
        os.environ[name] = scratch
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

    keep_semaphores_local()
    if sys.platform != "win32":
        import _posixsubprocess

        _posixsubprocess.fork_exec = _start
        _take_no_locks()
    for owner, name, index in native_writers():
        setattr(owner, name, _checked(getattr(owner, name), index))


def _checked(writer: Callable[..., Any], index: int) -> Callable[..., Any]:
    """Return ``writer``, which writes a file by C++ code, with a check of the path that is its argument ``index``."""

    @functools.wraps(writer, updated=())
    def write(*args: Any, **kwargs: Any) -> Any:
        # By name it is refused below Python only.
        for path in args[index : index + 1]:
            if isinstance(path, (str, bytes, os.PathLike)) and not _may_write(path):
                raise RefusedError(_NO_WRITES.format(_shown(path)))
        return writer(*args, **kwargs)

    return write


def _take_no_locks() -> None:
    """Make locks of files succeed without effect, but for those of temporary files.

    A lock on a file that can only be read keeps the user's programs waiting, and one that they hold would make the
    trace wait. On Linux the system does this for all files, also below Python.
    """
    import fcntl

    for name in ("flock", "lockf"):
        setattr(fcntl, name, _without_effect_outside(getattr(fcntl, name)))


def _without_effect_outside(lock: Callable[..., None]) -> Callable[..., None]:
    @functools.wraps(lock, updated=())
    def take(file: Any, *args: Any, **kwargs: Any) -> None:
        descriptor = file if isinstance(file, int) else file.fileno()
        path = _path_of(descriptor)
        if path is not None and is_in_scratch(os.path.realpath(path)):
            lock(descriptor, *args, **kwargs)

    return take


def _start(*args: Any) -> int:
    raise RefusedError("fxlsp does not let a file start a process while it traces a model")


def _this_process() -> tuple[int, ...]:
    """Return the process ids that may be signalled: this process and its group."""
    return (0, os.getpid(), *((os.getpgid(0),) if hasattr(os, "getpgid") else ()))


class _Own:
    acts = False


def own_processes_allowed() -> AbstractContextManager[None]:
    """Allow forks and kills by fxlsp itself inside this context.

    Without it, they are refused as those of a traced file are.
    """
    return replaced(_Own, acts=True)


def _changes_only_scratch(event: str, args: tuple[Any, ...]) -> bool:
    """Return whether what an event of :data:`_CHANGES` changes may be changed."""
    return all(_may_write(path, event not in _OF_NAMES) for path in _changed_paths(event, args))


def _changed_paths(event: str, args: tuple[Any, ...]) -> Iterator[object]:
    """Yield the paths that an event of :data:`_CHANGES` is about; descriptors as numbers."""
    for of_path, of_folder in _CHANGES[event]:
        path, folder = args[of_path], -1 if of_folder is None else args[of_folder]
        if event == "sqlite3.connect" and path in (":memory:", ""):
            continue
        if isinstance(folder, int) and folder >= 0 and not isinstance(path, int):
            base = _path_of(folder)
            path = None if base is None else os.path.join(base, os.fsdecode(path))
        yield path


def _may_write(path: object, follow: bool = True) -> bool:
    """Return whether a file may be changed; with ``follow`` the one that a link leads to, else the link."""
    if isinstance(path, int):
        return _may_change(path)
    try:
        given = os.fsdecode(path)  # type: ignore[arg-type]
        folder, name = os.path.split(given)
        real = os.path.realpath(given) if follow else os.path.join(os.path.realpath(folder or os.curdir), name)
    except (TypeError, ValueError):
        return False
    # A temporary file without a name is opened as its folder.
    return is_in_scratch(real) or real == os.devnull


def _may_change(descriptor: int) -> bool:
    """Return whether an open file may be changed: it is in the scratch folder, or no file of a folder at all."""
    path = _path_of(descriptor)
    return path is None or not os.path.exists(path) or is_in_scratch(os.path.realpath(path)) or path == os.devnull


def _path_of(descriptor: int) -> str | None:
    """Return the path of an open file or folder; None for a pipe, a socket, or where the system does not tell."""
    with suppress(OSError):
        path = os.readlink(f"/proc/self/fd/{descriptor}")
        return path if path.startswith("/") else None
    if sys.platform == "darwin":
        import fcntl

        with suppress(OSError):
            return os.fsdecode(fcntl.fcntl(descriptor, fcntl.F_GETPATH, bytes(1024)).rstrip(b"\0"))
    return None


def _shown(path: object) -> str:
    return os.fsdecode(path) if isinstance(path, (str, bytes, os.PathLike)) else repr(path)
