"""Processes that a test has left running, found by a mark in the environment."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest

from tests.support.fork_server import MARK

GONE_WITHIN = 4.0
"""Seconds; the promise is two, on a machine that does nothing else."""


def await_gone(mark: str) -> None:
    """Fail if a process of the test remains after the clean-up time of the server."""
    deadline = time.monotonic() + GONE_WITHIN
    while left := processes(mark):
        if time.monotonic() > deadline:
            pytest.fail(f"processes are left: {left}")
        time.sleep(0.02)


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
