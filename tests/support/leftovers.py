"""Processes that a test has left running, found by a mark in the environment."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path

from tests.support.fork_server import MARK
from tests.support.waiting import eventually


def await_gone(mark: str) -> None:
    """Fail if a process of the test remains, and kill it: other tests go on without it."""
    try:
        eventually(lambda: not processes(mark), lambda: f"processes are left: {processes(mark)}")
    finally:
        for pid in processes(mark):
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)


def processes(mark: str) -> dict[int, str]:
    """Return the command lines of the running processes with the mark."""
    found: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            environment, command = _read(folder / "environ"), _read(folder / "cmdline")
            if f"{MARK}={mark}".encode() in environment.split(b"\0"):
                found[int(folder.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
