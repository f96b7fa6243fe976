"""How much a search may cost, and how it ends when it has cost that much."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

TRIES = 150
"""Runs of one search. Of the models that are found at all, nine in ten take fewer than 20: more is for rare ones."""
MILLISECONDS = 800.0
"""Of processor time, for one search: what fails then still shows within a second, and what is found is remembered for
the next edit. Half of those that are found take a twentieth. Not of wall time: what is found must not depend on what
else the machine does."""


LARGE = 12
"""Tries that a model may have whose first ones take all of the time: one run of a diffusion model's U-Net takes half a
second, and it takes seven to learn what it wants."""
_LONGER = 8
"""How many times as long it may take for them."""


class OutOfTimeError(BaseException):
    """Ends a try that runs past the end of the budget. Not an Exception: the model's code must not catch it."""


class Budget:
    """Tries and time that are left."""

    def __init__(self, tries: int = TRIES, milliseconds: float = MILLISECONDS, large: int = LARGE) -> None:
        self.tries = 0
        """Those begun so far."""
        self._most = tries
        self._large = large
        self._start = time.process_time()
        self._seconds = milliseconds / 1000

    @property
    def spent_ms(self) -> float:
        return (time.process_time() - self._start) * 1000

    @property
    def is_spent(self) -> bool:
        """Whether no other try may begin."""
        return self.tries >= self._most or (self._left() <= 0 and self.tries >= self._large)

    def begin_try(self) -> bool:
        """Return whether another try may begin, and count it."""
        if self.is_spent:
            return False
        self.tries += 1
        return True

    def end_soon(self, tries: int) -> None:
        """Allow no more than so many further tries."""
        self._most = min(self._most, self.tries + tries)

    def allow(self, tries: int) -> None:
        """Allow so many further tries, whatever was allowed before."""
        self._most = max(self._most, self.tries + tries)

    def _left(self) -> float:
        """Seconds."""
        return self._start + self._seconds - time.process_time()

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """Raise :class:`OutOfTimeError` wherever the model's code is when the time is over.

        What waits rather than computes is left to the limits of the process, and so is everything where there are no
        such signals (Windows, other threads).
        """
        if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGPROF, _raise)
        # Again and again: a bare ``except`` of the model's may swallow the first.
        signal.setitimer(signal.ITIMER_PROF, max(self._left() + (_LONGER - 1) * self._seconds, 0.001), 0.05)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)


def _raise(number: int, frame: FrameType | None) -> None:
    raise OutOfTimeError
