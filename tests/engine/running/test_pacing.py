"""Running traces and the edits that come meanwhile, on a clock of their own."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field

import pytest

from fxlsp.engine.running.pacing import Pacing

KEY = "Net"


@dataclass
class Typist:
    """Edits of one model, each another program, and its traces, of which one runs at a time."""

    cost: float
    """Seconds of a trace."""
    now: float = 0.0
    ends_at: float | None = None
    """When the running trace ends."""
    text_of_trace: float = 0.0
    """When the text of the running trace was typed, or later."""
    is_waiting: bool = False
    answers: list[tuple[float, float]] = field(default_factory=list)
    """Time of each answer, and the time from which on texts are newer than it."""

    def __post_init__(self) -> None:
        self.pacing: Pacing[str] = Pacing(lambda: self.now)

    def edit(self, at: float) -> None:
        self.advance(at)
        self.pacing.requested(KEY)
        if self.ends_at is not None and self.pacing.gives_way(KEY, self.cost * 1000):
            self.pacing.cancelled(KEY)
            self.ends_at = None
        self.is_waiting = True
        self._start()

    def advance(self, until: float) -> None:
        while self.ends_at is not None and self.ends_at <= until:
            self.now = self.ends_at
            self.pacing.finished(KEY)
            self.answers.append((self.now, self.text_of_trace))
            self.ends_at = None
            self._start()
        self.now = until

    def _start(self) -> None:
        if self.is_waiting and self.ends_at is None:
            self.is_waiting = False
            self.pacing.begun(KEY)
            self.pacing.started(KEY)
            self.ends_at, self.text_of_trace = self.now + self.cost, self.now


def oldest_unanswered(edits: Sequence[float], answers: Sequence[tuple[float, float]]) -> float:
    """Return the longest time that a text waited for an answer of it or a newer text."""
    return max(next(at for at, text in answers if text >= edit) - edit for edit in edits)


@pytest.mark.parametrize("pauses", [False, True], ids=["without a pause", "in bursts"])
@pytest.mark.parametrize("cost", [0.03, 0.1, 0.3, 0.5, 1.0, 3.0, 8.0, 20.0])
@pytest.mark.parametrize("key", [0.02, 0.03, 0.08, 0.15, 0.25, 0.4])
def test_every_text_has_an_answer_within_two_traces(key: float, cost: float, pauses: bool) -> None:
    chance = random.Random(0)
    typist, edits, now = Typist(cost), [], 0.0
    while now < max(15.0, 6 * cost):
        now += key * chance.uniform(0.6, 1.4) + (chance.uniform(0.4, 2.5) if pauses and chance.random() < 0.1 else 0.0)
        edits.append(now)
        typist.edit(now)
    typist.advance(now + 3 * cost)
    assert oldest_unanswered(edits, typist.answers) <= 2 * cost + 1e-6


def test_a_trace_that_has_just_begun_gives_way_and_one_that_is_half_done_does_not() -> None:
    typist = Typist(1.0)
    typist.edit(0.0)
    typist.edit(0.4)
    typist.edit(0.95)
    typist.advance(10.0)
    assert typist.answers == [(1.4, 0.4), (2.4, 1.4)]


def test_a_trace_gives_way_only_while_the_first_text_without_answer_can_wait() -> None:
    typist = Typist(1.0)
    for edit in (0.0, 0.4, 0.8, 1.2, 1.6):
        typist.edit(edit)
    typist.advance(10.0)
    # The one of 0.8 was cancelled by none: the text of 0.0 would have waited for more than two traces.
    assert typist.answers == [(1.8, 0.8), (2.8, 1.8)]


def test_a_trace_that_hangs_gives_way_and_a_slow_one_has_more_time_then() -> None:
    now = 0.0
    pacing: Pacing[str] = Pacing(lambda: now)
    ends = []
    for _ in range(3):
        pacing.requested(KEY)
        pacing.begun(KEY)
        pacing.started(KEY)
        began = now
        now += 1.0  # half done
        pacing.requested(KEY)
        while not pacing.gives_way(KEY, cost_ms=100.0):
            now += 0.25
        pacing.cancelled(KEY)
        ends.append(now - began)
    assert ends == [3.25, 13.25, 53.25]


def test_a_trace_that_waits_for_its_process_does_not_hang() -> None:
    now = 0.0
    pacing: Pacing[str] = Pacing(lambda: now)
    pacing.requested(KEY)
    pacing.begun(KEY)
    now = 60.0
    pacing.requested(KEY)
    assert not pacing.gives_way(KEY, cost_ms=100.0)


def test_a_text_that_needs_no_trace_any_more_waits_for_none() -> None:
    now = 0.0
    pacing: Pacing[str] = Pacing(lambda: now)
    pacing.requested(KEY)
    pacing.only_requested(set())
    now = 5.0
    pacing.requested(KEY)
    pacing.begun(KEY)
    pacing.started(KEY)
    now = 5.1
    pacing.requested(KEY)
    assert pacing.gives_way(KEY, cost_ms=1000.0)
