"""Models whose text says where ``torch.fx`` fails, followed to their end."""

from __future__ import annotations

import os
import sys
import textwrap
from collections import defaultdict
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from fxlsp.report.code_records import Trait
from fxlsp.report.codes import RECORDS, codes_with
from fxlsp.report.problems import Problem
from fxlsp.report.report import Report
from tests.support.cases import (
    ELSEWHERE,
    LACKING,
    Case,
    Followed,
    StandElsewhere,
    Stands,
    Traces,
    in_root,
    skip_if_lacking,
)
from tests.support.marked import PREAMBLE, Span, span_of, unmarked

_OF_PATHS_AND_USE = frozenset(code for code in RECORDS if code.startswith(("FX2", "FX5", "FX6"))) - codes_with(
    Trait.REFUSES
)
"""Problems of other families: a child that is called twice has them for good reason."""

Place = tuple[str, Span, str]
"""File, span and code of a problem; only the line of the span where Python knows no more."""


@pytest.fixture
def followed(worker: Any, write: Callable[..., str]) -> Followed:
    """Traces a marked model, whose problems have the given codes in the order of its marks."""

    def followed(
        text: str,
        *codes: str,
        inputs: str | None = "torch.ones(3, 4)",
        also: frozenset[str] = frozenset(),
        is_traceable: bool | None = None,
    ) -> Report:
        marked = unmarked(PREAMBLE + textwrap.dedent(text))
        report: Report = worker.report(write(marked.text) + ":Net", "Net()", inputs)
        wanted = [_place("model.py", span, code) for span, code in zip(marked.spans, codes, strict=True)]
        _assert_places(report, wanted, also)
        if is_traceable is None:
            is_traceable = not any(code.startswith(("FX1", "FX2")) for code in codes)
        assert report.verdict.traceable == is_traceable, report.verdict
        return report

    return followed


@pytest.fixture
def stands(followed: Followed) -> Stands:
    """A case in the root has one problem at each mark, and the rest of the model is followed."""

    def stands(case: Case, code: str) -> None:
        skip_if_lacking(case.needs)
        codes = [code] * case.body.count("⟦") + [code] * case.init.count("⟦") + [code] * case.top.count("⟦")
        report = followed(in_root(case), *codes, inputs=case.inputs, also=case.also, is_traceable=case.is_traceable)
        assert report.complete == case.is_complete, _unknown(report)

    return stands


@pytest.fixture
def stand_elsewhere(worker: Any, write: Callable[..., str]) -> StandElsewhere:
    """Many cases, each the root of a file of its own, are children of one model, whose problems are all of theirs."""

    def stand_elsewhere(cases: Mapping[str, Case], code: str, spelling: str) -> None:
        alike = defaultdict(list)
        for case in (case for case in cases.values() if case.needs not in LACKING):
            alike[case.is_complete, case.is_traceable, case.also].append(case)
        for (is_complete, _, also), group in alike.items():
            wanted = []
            for index, case in enumerate(group):
                marked = unmarked(PREAMBLE + ELSEWHERE[spelling](case))
                write(marked.text, f"case_{index}.py")
                wanted += [_place(f"case_{index}.py", span, code) for span in marked.spans]
            path = write(_model_of(len(group)), "whole.py")
            report = worker.report(f"{path}:Net", "Net()", ", ".join(case.inputs for case in group))
            _assert_places(report, wanted, also)
            assert report.complete == is_complete, _unknown(report)

    return stand_elsewhere


@pytest.fixture
def traces(followed: Followed) -> Traces:
    """A case has no problem at all."""

    def traces(case: Case) -> None:
        skip_if_lacking(case.needs)
        report = followed(in_root(case), inputs=case.inputs, also=case.also)
        assert report.complete == case.is_complete, _unknown(report)

    return traces


def _model_of(count: int) -> str:
    """A model whose children are the models of ``count`` files."""
    cases = [f"case_{index}" for index in range(count)]
    children = "".join(f"        self.{case} = {case}.Net()\n" for case in cases)
    calls = ", ".join(f"self.{case}(x_{case})" for case in cases)
    return (
        f"from torch import nn\nimport {', '.join(cases)}\n\n"
        f"class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n{children}\n"
        f"    def forward(self, {', '.join(f'x_{case}' for case in cases)}):\n        return [{calls}]\n"
    )


def _assert_places(report: Report, wanted: list[Place], also: frozenset[str]) -> None:
    problems = [
        problem
        for problem in report.problems
        if problem.code not in _OF_PATHS_AND_USE and not problem.code.startswith(tuple(also))
    ]
    found = [_place(_file_of(problem), span_of(problem), problem.code) for problem in problems]
    told = "\n".join(f"{problem.code} {problem.location} {problem.message}" for problem in problems)
    if sys.version_info < (3, 11):
        # Without columns, problems of one code on one line are one.
        found, wanted = list(set(found)), list(set(wanted))
    assert sorted(found) == sorted(wanted), told


def _place(file: str, span: Span, code: str) -> Place:
    return file, span if sys.version_info >= (3, 11) else (span[0], 0, 0, 0), code


def _file_of(problem: Problem) -> str:
    return "" if problem.location is None else os.path.basename(problem.location.file)


def _unknown(report: Report) -> list[str]:
    return [f"{node.name} of {node.module_path}" for node in report.nodes if node.output is None or node.opaque]
