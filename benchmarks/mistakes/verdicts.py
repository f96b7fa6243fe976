"""Traces broken models, each in a file of its own, and judges whether its mistake is reported."""

from __future__ import annotations

import itertools
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from benchmarks.mistakes.broken_model import BrokenModel
from benchmarks.mistakes.hosts import INPUTS
from fxlsp.engine.connection.supervisor_client import Outcome, SupervisorClient
from fxlsp.report.codes import severity_of
from fxlsp.report.problems import Problem
from fxlsp.wire.messages import Limits, RecipeGuess, RecipeRequest, TraceRequest, TraceTarget

WAYS: Mapping[str, Callable[[str], RecipeRequest]] = {
    "stated": lambda made: RecipeRequest(made, INPUTS, "option"),
    "comment": lambda made: RecipeRequest(made, INPUTS, "comment"),
    "call site": lambda made: RecipeRequest(made, INPUTS, "call-site"),
    "searched": lambda made: RecipeRequest(made, None, "option"),
    "searched before": lambda made: RecipeRequest(made, None, "option", guess=RecipeGuess(made, INPUTS)),
}
"""Where the inputs of a model that is made by a call come from."""


class Verdict(NamedTuple):
    """Problems of a broken model whose inputs were found in one way."""

    broken: BrokenModel
    way: str
    problems: list[Problem]
    is_reported: bool

    @property
    def is_right(self) -> bool:
        return self.is_reported != self.broken.mistake.is_look_alike


async def verdicts(models: Iterable[BrokenModel], ways: Iterable[str]) -> AsyncIterator[Verdict]:
    """Trace each model in each way."""
    supervisor = SupervisorClient(sys.executable)
    with tempfile.TemporaryDirectory() as folder:
        try:
            for number, (broken, way) in enumerate(itertools.product(models, ways)):
                recipe = WAYS[way](broken.host.made)
                outcome = await supervisor.trace(_request(broken, recipe, Path(folder, f"broken_{number}.py")))
                problems, is_stated = _problems(outcome), recipe.inputs is not None
                is_reported = any(broken.is_reported_by(problem, is_stated) for problem in problems)
                yield Verdict(broken, way, problems, is_reported)
        finally:
            await supervisor.close()


def _request(broken: BrokenModel, recipe: RecipeRequest, path: Path) -> TraceRequest:
    """Write the text of a model; return what traces it."""
    path = path.resolve()
    path.write_text(broken.text, encoding="utf-8")
    target = TraceTarget(broken.host.made.partition("(")[0], file=str(path))
    return TraceRequest(target, recipe, roots=(str(path.parent),), limits=Limits(60, 8000))


def _problems(outcome: Outcome) -> list[Problem]:
    """Return the problems of a model, or its failure as a problem."""
    if outcome.report is not None:
        return list(outcome.report.problems)
    failure = outcome.failure
    assert failure is not None
    return [Problem(failure.code, severity_of(failure.code), failure.message, failure.location, failure.related)]
