"""Memory for a trace, and a cache folder that can be written to."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from fxlsp.cli.doctor.finding import DoctorFinding
from fxlsp.engine.storage.user_dirs import cache_folder

_SYSTEMS = {
    "darwin": ("macOS", "forks of a process with torch, sockets between processes, and the audit hook alone"),
    "win32": ("Windows", "spawned processes, sockets that are handed on, drive letters, and the audit hook alone"),
}
"""Systems on which fxlsp has never been run, and what of it differs there: docs/platforms.md."""
_BYTES = 2**20
_TORCH = 600
"""Megabytes of the process that imports torch."""
_CGROUPS = (("memory.max", "memory.current"), ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes"))


def untried_system(platform: str = sys.platform) -> Iterator[DoctorFinding]:
    """Yield what was never run on this system; nothing on Linux."""
    if platform in _SYSTEMS:
        name, parts = _SYSTEMS[platform]
        message = f"fxlsp has never been run on {name}, only emulated on Linux: {parts}"
        advice = "please report what this command prints; docs/platforms.md lists what differs"
        yield DoctorFinding("system", "warning", message, advice=advice)
    elif not platform.startswith("linux"):
        yield DoctorFinding("system", "warning", f"fxlsp has never been run on {platform}")


def memory(limit: int) -> DoctorFinding:
    """Return whether there is as much memory as a trace may take.

    Args:
        limit: megabytes at which a trace is ended (``limits.megabytes``).
    """
    free = available()
    if free is None:
        return DoctorFinding("memory", "ok", f"a trace may take {limit} MB; what is free is not known on this system")
    message = f"{free} MB are free, a trace may take {limit} MB and torch takes about {_TORCH} MB"
    if free >= limit + _TORCH:
        return DoctorFinding("memory", "ok", message)
    advice = f"lower 'limits.megabytes' (to {max(256, free - _TORCH)}, say), or end what takes the memory"
    return DoctorFinding("memory", "warning", f"{message}: the system may end a large one", advice=advice)


def available(proc: Path = Path("/proc"), cgroups: Path = Path("/sys/fs/cgroup")) -> int | None:
    """Return the free megabytes, of the machine and of the container.

    The smaller of the two; None if neither is known.

    Args:
        proc: mount point of the ``proc`` file system.
        cgroups: mount point of the control groups.
    """
    known = [_of_machine(proc), *(_of_container(cgroups / most, cgroups / used) for most, used in _CGROUPS)]
    amounts = [amount for amount in known if amount is not None]
    return min(amounts) // _BYTES if amounts else None


def _of_machine(proc: Path) -> int | None:
    try:
        found = re.search(r"^MemAvailable:\s+(\d+) kB", (proc / "meminfo").read_text(encoding="ascii"), re.MULTILINE)
    except (OSError, UnicodeDecodeError):
        return None
    return int(found[1]) * 1024 if found is not None else None


def _of_container(most: Path, used: Path) -> int | None:
    try:
        texts = most.read_text(encoding="ascii").strip(), used.read_text(encoding="ascii").strip()
    except (OSError, UnicodeDecodeError):
        return None
    # Without a limit the file contains "max", or a number beyond all memory.
    return max(0, int(texts[0]) - int(texts[1])) if all(map(str.isdecimal, texts)) else None


def cache() -> DoctorFinding:
    """Return whether the cache folder can be written to."""
    folder = cache_folder()
    origin = " (by XDG_CACHE_HOME)" if os.environ.get("XDG_CACHE_HOME") else ""
    problem = _not_writable(folder)
    if problem is None:
        return DoctorFinding("cache", "ok", f"{folder}{origin}, can be written to")
    message = f"{folder}{origin} cannot be written to: {problem}"
    return DoctorFinding(
        "cache", "warning", message, advice="let it be written to; else each start reads all files anew"
    )


def _not_writable(folder: Path) -> str | None:
    """Return why no file can be written there; None if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return error.strerror or str(error)
