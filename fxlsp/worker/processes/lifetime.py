"""Who dies with whom: no process of ours outlives its parent."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import threading
import time
from contextlib import suppress

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_WATCH_SECONDS = 0.5


def die_with_parent(parent: int) -> None:
    """End this process when the process ``parent`` ends, however that happens.

    On Windows, where nothing tells, it ends with its connection alone.
    """
    if sys.platform.startswith("linux"):
        _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    elif sys.platform != "win32":
        threading.Thread(target=_watch, args=(parent,), daemon=True, name="fxlsp parent watch").start()
    if os.getppid() != parent:
        # It ended before we asked to be told.
        os._exit(1)


def adopt_orphans() -> None:
    """Become the parent of what dying children leave behind, so that it can be found and ended."""
    if sys.platform.startswith("linux"):
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)


def kill_orphans(known: set[int]) -> None:
    """Kill every child of this process that is not in ``known``."""
    for pid in _children():
        if pid not in known:
            kill_group(pid)


def kill_group(pid: int) -> None:
    """Kill a process and the group it leads, and forget it."""
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


def _children() -> list[int]:
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", encoding="ascii") as file:
            return [int(pid) for pid in file.read().split()]
    except OSError:
        return []


def _prctl(option: int, value: int) -> None:
    ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


_exit = os._exit
"""Taken before last words are arranged: the process in the middle ends without any."""


def daemon_fork(adopter: int) -> int:
    """Return the number of a new process whose parent is ``adopter``, which adopts orphans below it; 0 in the new process.

    The new process dies with ``adopter``, and leads a session of its own.

    Raises:
        OSError: no process can be forked.
    """
    told, tell = os.pipe()
    try:
        middle = os.fork()
        if middle == 0:
            _fork_and_end(tell)
            _await_adoption(adopter)
        else:
            os.close(tell)
            tell = -1
            answer = os.read(told, 64)
            os.waitpid(middle, 0)
    finally:
        for descriptor in (told, tell):
            if descriptor >= 0:
                os.close(descriptor)
    if middle == 0:
        return 0
    if not answer:
        raise OSError("no process could be forked")
    return int(answer)


def _fork_and_end(tell: int) -> None:
    """Returns in the process that it forks."""
    child = 0
    try:
        child = os.fork()
        if child:
            os.write(tell, str(child).encode())
    except BaseException:
        _exit(1)
    if child:
        _exit(0)


def _await_adoption(adopter: int) -> None:
    os.setsid()
    deadline = time.monotonic() + 10
    while os.getppid() != adopter and time.monotonic() < deadline:
        time.sleep(0.0005)
    die_with_parent(adopter)
