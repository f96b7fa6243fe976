"""Models whose text says where their problems stand."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.code_records import Trait
from fxlsp.report.codes import GRAPH_DIFFERS, RECORDS, codes_with
from fxlsp.report.problems import Problem
from tests.support.marked import PREAMBLE, span_of, unmarked

SILENT = {code for code in RECORDS if code.startswith("FX3")} - codes_with(Trait.IN_MADE_GRAPH) - {GRAPH_DIFFERS}
"""Codes that the checks for silent differences report; the recovering pass and the merge report the others."""


@pytest.fixture
def found(worker: Any, write: Callable[..., str]) -> Callable[..., list[Problem]]:
    """Traces a marked model; its silent problems have the code, if one is given, and stand at the marks alone."""

    def found(
        text: str, code: str | None = None, inputs: str | None = "torch.ones(2, 4)", init: str = "Net()"
    ) -> list[Problem]:
        marked = unmarked(PREAMBLE + textwrap.dedent(text))
        report = worker.report(write(marked.text) + ":Net", init, inputs)
        silent = [problem for problem in report.problems if problem.code in SILENT]
        assert {problem.code for problem in silent} == ({code} if code else set()), silent
        silent.sort(key=span_of)
        if sys.version_info >= (3, 11):
            assert [span_of(problem) for problem in silent] == marked.spans
        else:
            # Without columns, what stands on one line is one problem.
            assert [span_of(problem)[0] for problem in silent] == sorted({span[0] for span in marked.spans})
        return silent

    return found
