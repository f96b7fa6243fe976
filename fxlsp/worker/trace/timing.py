"""What a trace has spent its time on."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager


class Timing:
    """Milliseconds spent in each stage."""

    def __init__(self, report_stage: Callable[[str], None]) -> None:
        """``report_stage`` is told of each stage as it begins."""
        self.spent: dict[str, float] = {}
        self._say_stage = report_stage
        self._start = time.perf_counter()

    @property
    def seconds(self) -> float:
        """In all."""
        return time.perf_counter() - self._start

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        """What is done meanwhile belongs to this stage."""
        self._say_stage(name)
        start = time.perf_counter()
        try:
            yield
        finally:
            start = max(start, self._start)
            self.spent[name] = self.spent.get(name, 0.0) + (time.perf_counter() - start) * 1000

    def restart(self, stage: str, report_stage: Callable[[str], None]) -> None:
        """Another trace goes on from here, in the stage where this one is."""
        self.spent.clear()
        self._say_stage = report_stage
        self._start = time.perf_counter()
        report_stage(stage)
