"""Lifetimes of processes: death with the parent, orphans, process groups."""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from contextlib import suppress

from ..sandbox.system_call import prctl
from .system import children_of

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_WATCH_SECONDS = 0.5
_MOST_GENERATIONS = 100


def die_with_parent(parent: int) -> None:
    """Make this process exit when the process ``parent`` exits in any way.

    On Windows, where no mechanism exists, it exits only when its connection is closed.
    """
    if sys.platform.startswith("linux"):
        with suppress(OSError):
            prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    elif sys.platform != "win32":
        threading.Thread(target=_watch, args=(parent,), daemon=True, name="fxlsp parent watch").start()
    if os.getppid() != parent:
        # The parent exited before the signal was requested.
        os._exit(1)


def adopt_orphans() -> None:
    """Make this process the parent of orphaned descendants, so that it can kill them."""
    if sys.platform.startswith("linux"):
        with suppress(OSError):
            prctl(_PR_SET_CHILD_SUBREAPER, 1)


def orphans_beside(known: set[int]) -> list[int]:
    """Return the child processes of this process that are not in ``known``."""
    return [pid for pid in children_of(os.getpid()) if pid not in known]


def kill_orphans(known: set[int]) -> None:
    """Kill every child process of this process that is not in ``known``.

    The children of one that is killed become children of this process, so that they are met next.
    """
    for _ in range(_MOST_GENERATIONS):
        orphans = orphans_beside(known)
        for pid in orphans:
            kill_group(pid)
        if not orphans:
            return


def is_own_child(pid: int) -> bool:
    """Return whether a process is a child of this one, running or not reaped yet."""
    if pid <= 1:
        return False
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True


def kill_group(pid: int) -> None:
    """Kill a process and the group that it leads, and reap it.

    Numbers that mean more than one process are ignored.
    """
    if pid <= 1:
        return
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, signal.SIGKILL)
    with suppress(ProcessLookupError, PermissionError):
        os.kill(pid, signal.SIGKILL)
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_WATCH_SECONDS)
    os._exit(1)


_exit = os._exit
"""The original, taken before crash dumps patch it: the intermediate process exits without a dump."""


def daemon_fork(adopter: int) -> int:
    """Fork twice, so that the new process is a child of ``adopter``; return its id.

    Returns 0 in the new process, which dies with ``adopter`` and leads a session of its own. ``adopter`` must be the
    ancestor that :func:`adopt_orphans` was called in.

    Raises:
        OSError: no process could be forked.
    """
    reader, writer = os.pipe()
    try:
        middle = os.fork()
        if middle == 0:
            _fork_and_end(writer)
            _await_adoption(adopter)
        else:
            os.close(writer)
            writer = -1
            answer = os.read(reader, 64)
            os.waitpid(middle, 0)
    finally:
        for descriptor in (reader, writer):
            if descriptor >= 0:
                os.close(descriptor)
    if middle == 0:
        return 0
    if not answer:
        raise OSError("no process could be forked")
    return int(answer)


def _fork_and_end(writer: int) -> None:
    """Fork, write the new id to ``writer`` and exit; return only in the new process."""
    child = 0
    try:
        child = os.fork()
        if child:
            os.write(writer, str(child).encode())
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
