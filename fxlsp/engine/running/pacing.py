"""Rule that decides whether a running trace gives way to a newer text.

A trace starts as soon as there is a text to trace and a process for it, however fast the user types: waiting for the
end of the typing saves processor time, and starves a person who does not pause. What runs is finished, unless its
replacement is certainly better: less than half of a trace is lost, and the replacement is finished within the time of
two traces after the oldest text on the screen that has no answer. So shapes of a text that was on the screen come
within two traces, at any speed of typing and any cost. Other rules, and what a simulation says of each:
docs/design/pacing.md.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Hashable, Set
from dataclasses import dataclass
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)

HANGS_AFTER = 4.0
"""Multiple of the time of the last trace after which a running one of an outdated text counts as hanging."""
HANGS_AFTER_MS = 3_000.0
"""Milliseconds before which none counts as hanging: a machine may be slow for a moment."""


@dataclass(slots=True)
class _Running:
    """Running trace of one key."""

    requested_at: float
    """Time in seconds of the first edit that no finished trace has read."""
    started_at: float | None = None
    """Time at which it entered its first stage; None while it waits for a process."""


class Pacing(Generic[Key]):
    """Times of requests and traces by key, from which the rule decides."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """``clock`` returns seconds."""
        self._clock = clock
        self._requested_at: dict[Key, float] = {}
        """Time of the first edit since the running trace began, by key."""
        self._running: dict[Key, _Running] = {}
        self._least_ms: dict[Key, float] = {}
        """How long a trace ran that was cancelled as hanging: the next one may only need longer."""

    def requested(self, key: Key) -> None:
        """Record that the present text needs a trace."""
        self._requested_at.setdefault(key, self._clock())

    def only_requested(self, keys: Set[Key]) -> None:
        """Forget the requests of all other keys: their texts have an answer again."""
        for key in self._requested_at.keys() - keys:
            del self._requested_at[key]

    def begun(self, key: Key) -> None:
        """Record that a trace of the present text was begun; it may wait for a process."""
        self._running[key] = _Running(self._requested_at.pop(key, self._clock()))

    def started(self, key: Key) -> None:
        """Record that a running trace has reached a stage."""
        running = self._running.get(key)
        if running is not None and running.started_at is None:
            running.started_at = self._clock()

    def finished(self, key: Key) -> None:
        """Record that the running trace has an outcome."""
        self._running.pop(key, None)
        self._least_ms.pop(key, None)

    def cancelled(self, key: Key) -> None:
        """Record that the running trace ended without an outcome: its text is still without answer."""
        running = self._running.pop(key, None)
        if running is not None and key in self._requested_at:
            self._requested_at[key] = running.requested_at

    def running_ms(self, key: Key) -> float:
        """Return how long a trace has run, in milliseconds, without the start of its process."""
        running = self._running.get(key)
        return 0.0 if running is None or running.started_at is None else (self._clock() - running.started_at) * 1000

    def gives_way(self, key: Key, cost_ms: float) -> bool:
        """Return whether the running trace of an outdated text is to be cancelled for one of the present text.

        Args:
            key: the model, whose present text was requested.
            cost_ms: time of its last trace in milliseconds; 0 if there was none.
        """
        running = self._running.get(key)
        if running is None:
            return False
        ran_ms = self.running_ms(key)
        if ran_ms > max(HANGS_AFTER_MS, HANGS_AFTER * max(cost_ms, self._least_ms.get(key, 0.0))):
            # The edit may be the end of what it hangs in. If it is only slow, the next one has four times as long.
            self._least_ms[key] = ran_ms
            return True
        unanswered_ms = (self._clock() - running.requested_at) * 1000
        return ran_ms < cost_ms / 2 and unanswered_ms <= cost_ms
