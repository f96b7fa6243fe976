"""Models whose text says where their problems stand."""

from __future__ import annotations

import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report import codes
from fxlsp.report.problems import Problem
from tests.support.marked import PREAMBLE, span_of, unmarked

SILENT = {
    *(codes.OPTIONAL_INPUT, codes.MODE_BAKED, codes.STATE_BAKED, codes.BUFFER_UPDATE, codes.PROXY_KEPT),
    *(codes.CONSTANT, codes.RANDOM, codes.CONTEXT_DROPPED, codes.CUSTOM_BACKWARD, codes.CHECKPOINT),
    *(codes.HOOK_DROPPED, codes.LEAF_BYPASSED, codes.LEAF_EXPECTED, codes.HIDDEN_MODEL, codes.VARIADIC_INPUT),
    codes.TENSOR_ATTRIBUTE,
}
"""What the checks for silent differences tell; other rooms tell of the same models what is theirs."""


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
