"""Limit of the restarts of a process that keeps dying."""

from __future__ import annotations

from fxlsp.engine.connection.restart_limit import RestartLimit


def test_the_first_death_costs_no_pause_and_each_further_one_twice_as_much() -> None:
    limit = RestartLimit(lambda: 0.0)
    pauses = []
    for _ in range(4):
        limit.record_death()
        pauses.append(limit.pause)
    assert pauses == [0.0, 1.0, 2.0, 4.0]


def test_a_pause_passes() -> None:
    now = [0.0]
    limit = RestartLimit(lambda: now[0])
    limit.record_death()
    limit.record_death()
    now[0] = 0.75
    assert limit.pause == 0.25
    now[0] = 2.0
    assert limit.pause == 0.0


def test_five_deaths_in_three_minutes_are_too_many_and_five_in_four_are_not() -> None:
    now = [0.0]
    limit = RestartLimit(lambda: now[0])
    for _ in range(5):
        limit.record_death()
        now[0] += 40.0
    exhausted = [limit.exhausted]
    limit.record_death()
    exhausted.append(limit.exhausted)
    limit.reset()
    exhausted.append(limit.exhausted)
    assert exhausted == [False, True, False]
