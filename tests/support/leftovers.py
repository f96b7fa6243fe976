"""Finds the processes that a test has left running, by the mark in their environment."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.support.fork_server import MARK

GONE_WITHIN = 4.0
"""Seconds; the promise is two, on a machine that does nothing else."""


def await_gone(mark: str) -> None:
    """Fails if a process of the test is left after the time that the server has to clean up."""
    deadline = time.monotonic() + GONE_WITHIN
    while left := processes(mark):
        if time.monotonic() > deadline:
            pytest.fail(f"processes are left: {left}")
        time.sleep(0.02)


def processes(mark: str) -> dict[int, str]:
    """The command lines of the running processes that carry the mark."""
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
