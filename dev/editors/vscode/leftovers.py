"""Processes of a run, which must not outlive what they belong to.

Each has a mark in its environment.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

MARK = "FXLSP_EDITOR_RUN"
"""In the environment of every process of a run."""
GONE_WITHIN = 30.0
"""Seconds in which processes must end, on a busy machine too."""


class LeftoverError(Exception):
    """Processes of a run outlived it."""


@dataclass(frozen=True)
class Process:
    """A process of a run."""

    pid: int
    command: str

    @property
    def is_ours(self) -> bool:
        """Whether it is the server, or one that traces.

        All of the editor's own processes run on Node.
        """
        try:
            return Path(os.readlink(f"/proc/{self.pid}/exe")).name.startswith("python")
        except OSError:
            return False

    def kill(self) -> None:
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)


def processes(mark: str) -> list[Process]:
    """Return the processes of a run that have not ended."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        with contextlib.suppress(OSError):
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
                found.append(Process(int(entry.name), command))
    # A process that has ended and was not reaped has no command line.
    return [process for process in found if process.command]


def ours(mark: str) -> list[Process]:
    """Return the server of a run, and all processes that it has started."""
    return [process for process in processes(mark) if process.is_ours]


async def all_gone(look: Callable[[], list[Process]], when: str) -> None:
    """Wait for the end of processes, and kill them if it does not come.

    Raises:
        LeftoverError: it did not come.
    """
    deadline = time.monotonic() + GONE_WITHIN
    while left := look():
        if time.monotonic() > deadline:
            for process in left:
                process.kill()
            commands: Mapping[int, str] = {process.pid: process.command for process in left}
            raise LeftoverError(f"left {GONE_WITHIN:.0f} s after {when}: {commands}")
        await asyncio.sleep(0.1)
