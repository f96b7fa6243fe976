"""Limit of the restarts of a process that keeps dying."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

_MOST_DEATHS = 5
_WINDOW_SECONDS = 180.0
_MOST_PAUSE_SECONDS = 16.0


class RestartLimit:
    """Restart limit: longer pauses with each death, none after five in three minutes."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._deaths: deque[float] = deque(maxlen=_MOST_DEATHS)

    def record_death(self) -> None:
        self._deaths.append(self._clock())

    def reset(self) -> None:
        """Forget all deaths: the user asked for a restart."""
        self._deaths.clear()

    @property
    def exhausted(self) -> bool:
        return len(self._deaths) == _MOST_DEATHS and self._clock() - self._deaths[0] < _WINDOW_SECONDS

    @property
    def pause(self) -> float:
        """Seconds until the next start: 0 after the first death, then 1, 2, 4, ..."""
        now = self._clock()
        recent = sum(1 for death in self._deaths if now - death < _WINDOW_SECONDS)
        if recent < 2:
            return 0.0
        return max(0.0, self._deaths[-1] + min(_MOST_PAUSE_SECONDS, 2.0 ** (recent - 2)) - now)
