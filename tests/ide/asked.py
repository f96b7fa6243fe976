"""Verdicts of other front ends on the models of the builder."""

from __future__ import annotations

from dataclasses import replace

from fxlsp.engine.state.snapshot import FrontendAnswer, ModelState
from fxlsp.report.frontends import FrontendProblem, FrontendResult, FrontendVerdict, OtherFrontend
from fxlsp.report.locations import Location
from tests.ide.builder import Trace


def found(code: str | None, at: Location | None, words: str = "It stops.\n\n  Hint: go on") -> FrontendProblem:
    return FrontendProblem("It stops.", words, at, code)


def verdict(
    name: OtherFrontend,
    *problems_of_it: FrontendProblem,
    result: FrontendResult = "problem",
    summary: str = "1 problem",
) -> FrontendVerdict:
    return FrontendVerdict(name, result, summary, problems_of_it)


def asked(made: Trace, *verdicts: FrontendVerdict) -> ModelState:
    """Return the state of a traced model about which front ends were asked."""
    state, report = made.state(), made.report()
    answers = (FrontendAnswer(each, state.texts, report.recipe, report.environment, True) for each in verdicts)
    return replace(state, frontends=tuple(answers))
