"""Models as people write them that nothing makes or calls: one mistake is an error on its line, and twins are sound.

They were written before the search was tried with them, in ``nothing_calls.txt`` and later ``in_a_hurry.txt``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.code_records import Severity
from fxlsp.report.problems import Failure, Problem
from fxlsp.report.report import Report
from tests.tracing.search.frames import MODELS

_HERE = "# here"
_MAY_WORK = frozenset(
    {
        "graph network",  # with equal widths
        "mixture of experts",  # without a batch
        "generator",  # with two rows a picture
        "message passing",  # with nodes of as many features as messages
        "cross attention",  # for all that is proven, with an image without a batch
        "image and text",  # with as many texts as features
        "margin head",  # with as many people as features: a stack of such layers has equal widths
    }
)
"""Models that run with other arguments or inputs, or for which the opposite is not proven."""


@pytest.mark.parametrize("kind", [kind for kind in MODELS if kind not in _MAY_WORK])
def test_the_mistake_is_an_error_on_its_line(kind: str, worker: Any, write: Callable[..., str]) -> None:
    text = MODELS[kind].wrong
    errors = [each for each in _problems(MODELS[kind].name, text, worker, write) if each.severity == "error"]
    assert errors
    lines = text.splitlines()
    assert {lines[each.location.line - 1].endswith(_HERE) for each in errors if each.location} == {True}, errors


@pytest.mark.parametrize("kind", sorted(_MAY_WORK))
def test_a_model_that_runs_with_other_sizes_is_not_accused(kind: str, worker: Any, write: Callable[..., str]) -> None:
    problems = _problems(MODELS[kind].name, MODELS[kind].wrong, worker, write)
    assert [each.message for each in problems if each.severity == "error"] == []


@pytest.mark.parametrize("kind", MODELS)
def test_its_twin_has_neither_error_nor_warning(kind: str, worker: Any, write: Callable[..., str]) -> None:
    problems = _problems(MODELS[kind].name, MODELS[kind].sound, worker, write)
    assert [each.message for each in problems if each.severity in ("error", "warning")] == []


def _problems(name: str, text: str, worker: Any, write: Callable[..., str]) -> list[Problem]:
    """Return the problems of a model that it has without torch.fx, too."""
    answer = worker.answer(f"{write(text)}:{name}")
    if answer["type"] == "failure":
        failure = Failure.from_json(answer["failure"])
        severity: Severity = "error" if failure.is_certain else "warning"
        return [Problem(failure.code, severity, failure.message, failure.location)]
    problems = Report.from_json(answer["report"]).problems
    return [each for each in problems if each.code.startswith(("FX4", "FX6", "FX9"))]
