"""A long session: memory, descriptors, processes and temporary files of the server stay what they were."""

from __future__ import annotations

import os
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

from benchmarks.reliability.progress import Outcome, Share
from benchmarks.reliability.session import Session, parent, processes, session

TYPED_BETWEEN = 4
"""Edits of a comment between two edits that are traced to their end."""
_BEFORE_COMPARISON = 1000
"""Edits after which nothing may grow: a tenth of a long session."""
MOST_GROWTH = 1.05
"""As the project promises."""


@dataclass(frozen=True)
class Use:
    """What the lasting processes of a session use."""

    server: float
    """Memory of the server, MiB."""
    supervisor: float
    """Memory of its supervisor and index reader, MiB."""
    descriptors: int
    processes: int
    files: int

    @property
    def megabytes(self) -> float:
        return self.server + self.supervisor


async def run_soak(share: Share) -> Outcome:
    """Edit in one session until all edits are made or the time is over; what grew is wrong.

    A session cannot be resumed: one that was too short counts for nothing.
    """
    deadline, edits, done = time.monotonic() + share.seconds, share.wanted, 0
    uses: list[Use] = []
    with tempfile.TemporaryDirectory() as name:
        async with session(Path(name)) as running:
            lasting = _lasting(running)
            while done < edits and time.monotonic() < deadline:
                for number in range(TYPED_BETWEEN):
                    _type_comment(running, done + number)
                await running.new_shape()
                done += TYPED_BETWEEN + 1
                if done >= _BEFORE_COMPARISON and not uses:
                    uses.append(_use(running, lasting))
            uses.append(_use(running, lasting))
    waited = done // (TYPED_BETWEEN + 1)
    print(f"soak: {done} edits, {waited} waited for; after {_BEFORE_COMPARISON} and at the end {uses}", flush=True)
    return Outcome(done if done >= edits else 0, _growth(*uses) if len(uses) == 2 else [])


def _growth(first: Use, last: Use) -> list[str]:
    growing = (name for name in ("descriptors", "processes", "files") if getattr(last, name) > getattr(first, name) + 2)
    wrong = [f"{name} grew from {getattr(first, name)} to {getattr(last, name)}" for name in growing]
    if last.megabytes > first.megabytes * MOST_GROWTH:
        wrong.append(f"memory grew from {first.megabytes:.1f} to {last.megabytes:.1f} MiB")
    return wrong


def _type_comment(running: Session, number: int) -> None:
    text = running.client.buffers[running.healthy].text
    start = text.index("\n", text.index("def forward"))
    end = text.index("\n", start + 1) if text[start + 1 :].startswith("        #") else start
    running.client.edit(running.healthy, start, end, f"\n        # {number}")


def _lasting(running: Session) -> set[int]:
    """Return the server, its index reader and its supervisor: those that no trace ends."""
    found = processes(running.mark)
    return {pid for pid in found if parent(pid) == os.getpid() or parent(pid) == running.client.connection.pid}


def _use(running: Session, lasting: set[int]) -> Use:
    server = running.client.connection.pid
    return Use(
        _megabytes(server),
        sum(_megabytes(pid) for pid in lasting if pid != server),
        sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in lasting),
        len(processes(running.mark)),
        sum(len(files) for _, _, files in os.walk(running.temporary)),
    )


def _megabytes(pid: int) -> float:
    """Return the private memory of a process, MiB: what it shares with those that it has forked changes with them."""
    text = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8")
    fields = dict(line.split(":", 1) for line in text.splitlines() if line.startswith(("Pss", "Private", "Shared")))
    return sum(int(fields[name].split()[0]) for name in ("Private_Dirty", "Shared_Dirty")) / 1024
