"""Time that a trace spends in each stage."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Timing:
    """Milliseconds spent in each stage."""

    def __init__(self, report_stage: Callable[[str], None]) -> None:
        """
        Args:
            report_stage: called with the name of each stage as it begins.
        """
        self.spent: dict[str, float] = {}
        self._say_stage = report_stage
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """Total time of the trace so far, seconds."""
        return time.perf_counter() - self._start

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """Add the time inside this context to a stage."""
        self._say_stage(name)
        start = time.perf_counter()
        try:
            yield
        finally:
            start = max(start, self._start)
            self.spent[name] = self.spent.get(name, 0.0) + (time.perf_counter() - start) * 1000

    def restart(self, stage: str, report_stage: Callable[[str], None]) -> None:
        """Start again from zero for another trace, in the middle of a stage."""
        self.spent.clear()
        self._say_stage = report_stage
        self._start = time.perf_counter()
        report_stage(stage)
