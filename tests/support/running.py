"""What the processes below a test are doing, for a test that was cut."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

_STACK_SECONDS = 10.0
"""Time limit for reading the stack of one process."""
_ALL_SECONDS = 30.0
"""Time after which no further stacks are read."""


def stacks_of(pid: int) -> str:
    """Return command, state and Python stack of a process and of all that descend from it.

    The stacks are read by py-spy, where it is installed and the system lets it.
    """
    return _all_described([pid, *_descendants(pid)])


def stacks_below() -> str:
    """Return the same of all that descend from this process, without itself."""
    return _all_described(_descendants(os.getpid())) or "no other process is running"


def _all_described(pids: Sequence[int]) -> str:
    ends = time.monotonic() + _ALL_SECONDS
    return "\n".join(_described(pid, with_stack=time.monotonic() < ends) for pid in pids)


def _descendants(pid: int) -> list[int]:
    children = list(_children(pid))
    return [*children, *(below for child in children for below in _descendants(child))]


def _children(pid: int) -> Iterator[int]:
    for listed in Path(f"/proc/{pid}/task").glob("*/children"):
        yield from map(int, _read(listed).split())


def _described(pid: int, with_stack: bool) -> str:
    command = _read(Path(f"/proc/{pid}/cmdline")).replace("\0", " ").strip() or "(ended)"
    state = _read(Path(f"/proc/{pid}/stat")).rpartition(")")[2].split()[:1] or ["?"]
    return (
        f"process {pid}, state {state[0]}: {command[:200]}\n{_stack(pid) if with_stack else '    (not read: no time)'}"
    )


def _stack(pid: int) -> str:
    spy = shutil.which("py-spy", path=os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")]))
    if spy is None:
        return "    (py-spy, which reads stacks, is not installed)"
    command = [spy, "dump", "--nonblocking", "--pid", str(pid)]
    try:
        read = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_STACK_SECONDS)
    except subprocess.TimeoutExpired:
        return "    (its stack cannot be read)"
    return "\n".join(f"    {line}" for line in (read.stdout or read.stderr).splitlines())


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
