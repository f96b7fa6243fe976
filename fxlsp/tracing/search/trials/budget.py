"""How much work a search may do, and how it ends when it has done that much.

Work is counted, not timed: what a search finds must depend neither on the machine nor on what else it does. The clock
is a net for code that computes without calling torch.
"""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

from ...isolation.replacement import replaced

TRIES = 150
"""Runs of one search. Of the models that are found at all, nine in ten take fewer than 20: more is for rare ones."""
WORK = 2000
"""Of one search, in calls of torch's functions without data, of which two take about a millisecond: what fails then
still shows within a second or so, and what is found is remembered for the next edit."""
WORK_OF_TRY = 6
"""Of what surrounds a run: suggestions of the try before it, inputs, the text of an error."""
WORK_WITH_DATA = 2
"""Of a call with data."""
MODULES_OF_WORK = 3
"""Modules that a constructor makes in the time of a call."""
ELEMENTS_OF_WORK = 2**16
"""Elements of parameters that are made with data in the time of a call."""
_WORK_OF_STEPS = {"lstm": 1, "gru": 12, "rnn_tanh": 4, "rnn_relu": 4}
"""Of a step in each layer and direction of a recurrent layer, which is one call. Only that of an LSTM is one operator,
at least where torch has oneDNN."""
SECONDS = 20.0
"""Of processor time, for everything that is searched for one model: many times of what the work takes."""

LARGE = 12
"""Tries that a model may have whose first ones take all of the work: one run of a diffusion model's U-Net makes some
thousand calls, and it takes seven to learn what it wants."""
_MORE = 6
"""How many times as much work it may do for them."""


def work_of(function: str, args: tuple[Any, ...]) -> int:
    """Return the work of a call of one of torch's functions; reading an attribute is none."""
    if function not in _WORK_OF_STEPS:
        return 0 if function == "__get__" else 1
    shape = getattr(args[0], "shape", ())
    weights = max((len(each) for each in args if isinstance(each, (list, tuple))), default=4)
    return max(_WORK_OF_STEPS[function] * max(shape[:-1], default=1) * weights // 4, 1)


class OutOfBudgetError(BaseException):
    """Ends a try that goes on past the end of the budget. Not an Exception: the model's code must not catch it."""


class WorkMeter:
    """Counts the work that is done for one model, under the net of processor time."""

    def __init__(self, seconds: float = SECONDS) -> None:
        self.done = 0
        """Work so far."""
        self._end = time.process_time() + seconds
        self._most: int | None = None
        """Work at which what runs is ended."""

    @property
    def seconds_left(self) -> float:
        """Processor time until the net."""
        return self._end - time.process_time()

    def count(self, work: int) -> None:
        """Count work.

        Raises:
            OutOfBudgetError: it is more than what runs may do.
        """
        self.done += work
        if self._most is not None and self.done > self._most:
            raise OutOfBudgetError

    @contextmanager
    def limited(self, work: int) -> Iterator[None]:
        """Raise :class:`OutOfBudgetError` wherever the model's code is when so much has been done, at the net too.

        What waits rather than computes is left to the limits of the process, and so is what computes without calling
        torch where there are no such signals (Windows, other threads).
        """
        with replaced(self, _most=self.done + work), self._timed():
            yield

    @contextmanager
    def _timed(self) -> Iterator[None]:
        if not hasattr(signal, "setitimer") or threading.current_thread() is not threading.main_thread():
            yield
            return
        before = signal.signal(signal.SIGPROF, _raise)
        # Again and again: a bare ``except`` of the model's may swallow the first.
        signal.setitimer(signal.ITIMER_PROF, max(self.seconds_left, 0.001), 0.05)
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)
            signal.signal(signal.SIGPROF, before)


class Budget:
    """Tries and work that are left."""

    def __init__(
        self, meter: WorkMeter | None = None, tries: int = TRIES, work: int = WORK, large: int = LARGE
    ) -> None:
        """
        Args:
            meter: Counts the work of all budgets of one model; one of its own without.
            tries: That may begin.
            work: After which no other try begins, but for the first ones.
            large: How many these are.
        """
        self.meter = meter or WorkMeter()
        self.tries = 0
        """Those begun so far."""
        self._most = tries
        self._large = large
        self._start = self.meter.done
        self._work = work

    @property
    def work(self) -> int:
        """What was done so far."""
        return self.meter.done - self._start

    @property
    def is_spent(self) -> bool:
        """Whether no other try may begin."""
        is_worked_off = self.work >= self._work and self.tries >= self._large
        return self.tries >= self._most or is_worked_off or self.meter.seconds_left <= 0

    def begin_try(self) -> bool:
        """Return whether another try may begin, and count it."""
        if self.is_spent:
            return False
        self.tries += 1
        self.meter.count(WORK_OF_TRY)
        return True

    def end_soon(self, tries: int) -> None:
        """Allow no more than so many further tries."""
        self._most = min(self._most, self.tries + tries)

    def allow(self, tries: int) -> None:
        """Allow so many further tries, whatever was allowed before."""
        self._most = max(self._most, self.tries + tries)

    @contextmanager
    def enforced(self) -> Iterator[None]:
        """Raise :class:`OutOfBudgetError` where a run does far more work than is left, or comes to the net."""
        with self.meter.limited(_MORE * self._work):
            yield


def _raise(number: int, frame: FrameType | None) -> None:
    raise OutOfBudgetError
