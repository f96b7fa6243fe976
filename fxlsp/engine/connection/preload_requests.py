"""Has the template import packages that models import, so that later traces find them loaded."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable

_REST_SECONDS = 0.1
"""The template answers nothing while it imports: it does so when nobody is waiting."""
_PATIENCE = 3
"""Traces in a row that may each import the same packages anew before the next one waits for them instead."""


class Preloading:
    """Collects the packages that traces report, and tells the template of each once."""

    def __init__(self, preload: Callable[[tuple[str, ...]], None]) -> None:
        self._preload = preload
        self._told: set[str] = set()
        self._waiting: set[str] = set()
        self._passed_over = 0
        self._timer: asyncio.TimerHandle | None = None

    def trace_starts(self) -> None:
        self.stop()
        if self._passed_over >= _PATIENCE:
            self._tell()

    def trace_ended(self, imports: Iterable[str], idle: bool) -> None:
        """A trace imported these packages; ``idle`` if no other one is under way."""
        self._waiting |= set(imports) - self._told
        if self._waiting:
            self._passed_over += 1
            if idle:
                self.stop()
                self._timer = asyncio.get_running_loop().call_later(_REST_SECONDS, self._tell)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _tell(self) -> None:
        names = tuple(sorted(self._waiting))
        self._told |= self._waiting
        self._waiting.clear()
        self._passed_over = 0
        self._preload(names)
