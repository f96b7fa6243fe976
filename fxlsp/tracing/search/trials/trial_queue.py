"""The trials that wait, and which of them is run next."""

from __future__ import annotations

import heapq
import itertools
from collections import deque
from collections.abc import Iterable

from .values import Progress, Trial

_OTHER_EVERY = 5
"""Every so many tries one starts elsewhere, lest all follow a path that ends nowhere."""


class TrialQueue:
    """Trials in the order of their promise, each of which is returned once, and others to begin with."""

    def __init__(self) -> None:
        self._waiting: list[tuple[int, int, int, int, int, Trial]] = []
        self._elsewhere: deque[Trial] = deque()
        self._order = itertools.count()
        self._best_place: dict[Trial, tuple[int, int, int, int]] = {}
        """Of each trial that waits, or has waited."""
        self._begun: set[Trial] = set()

    def push(self, trial: Trial, progress: Progress, rank: int, repeats: int = 0) -> None:
        """Let a trial wait for its turn.

        ``repeats`` is how often a try ended as the one that suggests this: new errors say more than old ones.
        """
        place = (-progress[0], -progress[1], repeats, rank)
        if trial not in self._best_place or place < self._best_place[trial]:
            self._best_place[trial] = place
            heapq.heappush(self._waiting, (*place, next(self._order), trial))

    def begin_elsewhere(self, trials: Iterable[Trial]) -> None:
        """Let trials wait that no failure suggested."""
        self._elsewhere += trials

    def next(self, tries: int) -> Trial | None:
        """Return the trial to run after so many tries; None if none waits."""
        if self._elsewhere and (not self._waiting or tries % _OTHER_EVERY == _OTHER_EVERY - 1):
            return self._elsewhere.popleft()
        while self._waiting:
            trial = heapq.heappop(self._waiting)[-1]
            if trial not in self._begun:
                self._begun.add(trial)
                return trial
        return None
