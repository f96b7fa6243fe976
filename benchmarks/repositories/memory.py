"""Memory that a process and all its descendants have at once."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from threading import Event, Thread
from types import TracebackType

_SECONDS = 0.2
"""Between two samples. Shorter-lived processes are missed, so the figure is a lower bound."""
_PSS = re.compile(rb"^Pss:\s+(\d+) kB", re.MULTILINE)


class PeakMemory:
    """Memory of a process and its descendants, sampled while the context lasts."""

    def __init__(self, pid: int) -> None:
        self.megabytes: float | None = None
        """The largest sample; None where the system does not report memory."""
        self._pid = pid
        self._over = Event()
        self._thread = Thread(target=self._watch, daemon=True)

    def __enter__(self) -> PeakMemory:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._over.set()
        self._thread.join()

    def _watch(self) -> None:
        while not self._over.wait(_SECONDS):
            held = sum(map(_megabytes, _with_descendants(self._pid)))
            if held:
                self.megabytes = max(self.megabytes or 0.0, held)


def _with_descendants(pid: int) -> Iterator[int]:
    yield pid
    try:
        threads = os.listdir(f"/proc/{pid}/task")
    except OSError:
        return
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                children = file.read().split()
        except OSError:
            continue
        for child in children:
            yield from _with_descendants(int(child))


def _megabytes(pid: int) -> float:
    """Return a process's share of the pages that it has mapped.

    A page that three processes share counts a third in each.
    """
    try:
        with open(f"/proc/{pid}/smaps_rollup", "rb") as file:
            found = _PSS.search(file.read())
    except OSError:
        return 0.0
    return int(found[1]) / 1024 if found else 0.0
