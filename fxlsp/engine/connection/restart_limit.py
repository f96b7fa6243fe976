"""How often a process that keeps dying is started again."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable

_MOST_DEATHS = 5
_WINDOW_SECONDS = 180.0
_MOST_PAUSE_SECONDS = 16.0


class RestartLimit:
    """After each death a longer pause, after five in three minutes no further start."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._deaths: deque[float] = deque(maxlen=_MOST_DEATHS)

    def record_death(self) -> None:
        self._deaths.append(self._clock())

    def reset(self) -> None:
        """The user asked for a fresh start."""
        self._deaths.clear()

    @property
    def exhausted(self) -> bool:
        return len(self._deaths) == _MOST_DEATHS and self._clock() - self._deaths[0] < _WINDOW_SECONDS

    @property
    def pause(self) -> float:
        """Seconds from now until the next start may be tried: none after the first death, then 1, 2, 4, ..."""
        now = self._clock()
        recent = sum(1 for death in self._deaths if now - death < _WINDOW_SECONDS)
        if recent < 2:
            return 0.0
        return max(0.0, self._deaths[-1] + min(_MOST_PAUSE_SECONDS, 2.0 ** (recent - 2)) - now)
