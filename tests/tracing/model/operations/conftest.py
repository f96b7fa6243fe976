"""Marked models whose failing operations are the marked ones."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Problem
from fxlsp.report.report import Report
from tests.support.marked import PREAMBLE, span_of, unmarked


@pytest.fixture
def failing(worker: Any, write: Callable[..., str]) -> Callable[..., tuple[Report, list[Problem]]]:
    """Traces a marked model, whose only failing operations are the marked ones."""

    def failing(text: str, inputs: str) -> tuple[Report, list[Problem]]:
        marked = unmarked(PREAMBLE + text)
        report = worker.report(write(marked.text) + ":Net", "Net()", inputs)
        found = sorted((each for each in report.problems if each.code == "FX401"), key=span_of)
        if sys.version_info >= (3, 11):
            assert [span_of(problem) for problem in found] == marked.spans, [problem.message for problem in found]
        else:
            # Without columns, problems of one line are one.
            assert {span_of(problem)[0] for problem in found} == {span[0] for span in marked.spans}
        return report, found

    return failing
