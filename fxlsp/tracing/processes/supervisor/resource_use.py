"""What the processes of a trace use: their number, their memory, and space in their scratch folder."""

from __future__ import annotations

import os
from contextlib import suppress

from ...isolation.child_processes.system import children_of, resident_megabytes

_MOST_PROCESSES = 10_000
_MOST_ENTRIES = 20_000
"""Files and folders that are counted. Counting more takes longer than a supervisor may be busy."""


def descendants(pid: int) -> list[int]:
    """Return the processes that descend from a process; none where the system does not list them."""
    found: list[int] = []
    pending = [pid]
    while pending and len(found) < _MOST_PROCESSES:
        children = list(children_of(pending.pop()))
        found += children
        pending += children
    return found


def exceeds_megabytes(pids: list[int], limit: float) -> bool:
    """Return whether a process has more resident memory than ``limit``, MiB, or several together have.

    Memory that several share counts once, where the system reports it: that takes milliseconds, so it is read only if
    it matters.
    """
    resident = [resident_megabytes(pid) for pid in pids]
    if max(resident) > limit:
        return True
    return sum(resident) > limit and sum(map(_proportional_megabytes, pids)) > limit


def _proportional_megabytes(pid: int) -> float:
    """Return the resident memory of a process, MiB, of which each shared page counts in equal parts."""
    with suppress(OSError, ValueError), open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
        for line in file:
            if line.startswith("Pss:"):
                return int(line.split()[1]) / 2**10
    return resident_megabytes(pid)


def written_megabytes(folder: str) -> float:
    """Return the space that the files in and below a folder take, MiB; infinite for very many files."""
    blocks, entries, pending = 0, 0, [folder]
    while pending:
        with suppress(OSError), os.scandir(pending.pop()) as found:
            for entry in found:
                entries += 1
                if entries > _MOST_ENTRIES:
                    return float("inf")
                if entry.is_dir(follow_symlinks=False):
                    pending.append(entry.path)
                else:
                    blocks += getattr(entry.stat(follow_symlinks=False), "st_blocks", 0)
    return blocks * 512 / 2**20
