"""The benchmark of typing counts what a user sees flash."""

from __future__ import annotations

import ast

import pytest

from benchmarks.replays import INTERNAL, SESSIONS, Replay
from benchmarks.typist import EditingSession, editing_session

WRONG = ("FX401", "wrong")


def replay(*published: tuple[float, frozenset[tuple[str, str]]]) -> Replay:
    return Replay(EditingSession("", "", ()), published=list(published))


@pytest.mark.parametrize("number", range(SESSIONS))
def test_a_session_ends_with_python_and_is_the_same_each_time(number: int) -> None:
    session = editing_session(number)
    text = session.text
    for key in session.keys:
        text = text[: key.start] + key.text + text[key.end :]
    ast.parse(text)
    assert session == editing_session(number)


def test_a_problem_that_is_shown_for_a_second_and_at_no_rest_is_a_flash() -> None:
    played = replay((1.0, frozenset({WRONG})), (2.0, frozenset()))
    assert played.flashes() == [(WRONG, 1.0, 2.0)]
    played.at_rest.add(WRONG)
    assert played.flashes() == []


def test_a_problem_that_stays_is_no_flash_and_yet_untrue() -> None:
    played = replay((1.0, frozenset({WRONG})), (4.0, frozenset()))
    assert (played.flashes(), played.untrue()) == ([], {WRONG})


def test_the_time_to_a_message_begins_with_the_finished_mistake() -> None:
    played = replay((1.0, frozenset()), (5.5, frozenset({WRONG})))
    played.mistakes += [(4.0, "FX401"), (4.0, "FX101")]
    assert list(played.delays()) == [("FX401", 1.5), ("FX101", None)]


@pytest.mark.parametrize("message", ["<object at 0x7f5fe0d34460>", "_fxlsp_tracing.loading", "given _FxlspProxy"])
def test_internal_names_are_found_in_messages(message: str) -> None:
    assert INTERNAL.search(message)
