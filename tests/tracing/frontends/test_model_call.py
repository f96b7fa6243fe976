"""Places and words of a front end's problems, and a torch that lacks what a verdict needs."""

from __future__ import annotations

import sys
from collections.abc import Callable
from traceback import FrameSummary

import pytest
import torch

from fxlsp.report.frontend_codes import BREAK_AT_VALUE, EXPORT_FAILS
from fxlsp.report.locations import Location
from fxlsp.tracing.frontends.compile import compile_verdict
from fxlsp.tracing.frontends.model_call import ModelCall, is_condition, place_in_stack, problem_of
from fxlsp.tracing.model.locations.expressions import Expressions
from fxlsp.tracing.model.locations.source_map import SourceMap
from fxlsp.tracing.model.locations.sources import Sources

TEXT = """\
def forward(self, x):
    print(x)
    y = self.a(x) + 1
    if flag:
        pass
    if x.any():
        pass
    flag = not x.any()
    match flag:
        case _ if x.all():
            pass
"""


def source_map() -> SourceMap:
    sources = Sources({})
    return SourceMap(sources, Expressions(sources))


@pytest.mark.parametrize(("line", "columns"), [(2, (5, 13)), (3, (5, 22)), (4, (8, 12)), (6, (8, 15)), (5, (9, 13))])
def test_without_columns_the_place_is_the_only_operation_on_the_line_else_the_line(
    line: int, columns: tuple[int, int], write: Callable[..., str]
) -> None:
    path = write(TEXT)
    place = place_in_stack(
        [FrameSummary(path, line, "torch_dynamo_resume_in_forward_at_2", lookup_line=False)], source_map()
    )
    assert place is not None
    assert (place.line, place.column, place.end_column, place.function) == (line, *columns, "forward")


@pytest.mark.skipif(sys.version_info < (3, 11), reason="Python 3.10 has no columns")
@pytest.mark.parametrize(("columns", "shown"), [((8, 17), (9, 18)), ((8, 21), (9, 22)), ((0, 3), (5, 22))])
def test_with_columns_it_is_the_expression_that_has_them(
    columns: tuple[int, int], shown: tuple[int, int], write: Callable[..., str]
) -> None:
    path = write(TEXT)
    frame = FrameSummary(path, 3, "forward", lookup_line=False, colno=columns[0], end_colno=columns[1])
    place = place_in_stack([frame, FrameSummary(torch.__file__, 1, "inner", lookup_line=False)], source_map())
    assert place is not None
    assert (place.column, place.end_column) == shown


@pytest.mark.parametrize(
    ("line", "columns", "expected"),
    [
        (4, (8, 12), True),
        (6, (8, 15), True),
        (6, (5, 16), True),
        (8, (12, 23), True),
        (8, (16, 23), True),
        (10, (19, 26), True),
        (3, (9, 22), False),
        (6, (8, 13), False),
    ],
    ids=["name", "call", "whole line", "not", "operand of not", "guard", "other line", "part"],
)
def test_what_a_condition_tests_is_one(
    line: int, columns: tuple[int, int], expected: bool, write: Callable[..., str]
) -> None:
    path = write(TEXT)
    assert is_condition(Location(path, line, columns[0], line, columns[1], "forward"), source_map()) == expected


def test_a_stack_without_the_users_code_has_no_place() -> None:
    assert place_in_stack([FrameSummary(torch.__file__, 1, "inner", lookup_line=False)], source_map()) is None


def test_the_headline_is_the_first_sentence_and_the_page_of_a_graph_break_gives_its_number() -> None:
    page = "https://meta-pytorch.github.io/compile-graph-break-site/gb/gb0170.html"
    message = f"\nNo branch on data, e.g. here. Use another.\n  See https://pytorch.org/docs.\n  Also: {page}"
    problem = problem_of(message, None, BREAK_AT_VALUE)
    assert (problem.headline, problem.graph_break, problem.link) == ("No branch on data, e.g. here.", "GB0170", page)
    other = problem_of("Why? See https://pytorch.org/docs.", None, EXPORT_FAILS)
    assert (other.headline, other.graph_break, other.link) == ("Why?", None, "https://pytorch.org/docs")


def test_a_torch_that_cannot_compile_here_is_not_available(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> None:
        raise RuntimeError("not on this Python")

    monkeypatch.setattr("torch._dynamo.eval_frame.check_if_dynamo_supported", refuse)
    verdict = compile_verdict(ModelCall(torch.nn.ReLU(), (torch.randn(2),), {}), source_map())
    assert (verdict.verdict, verdict.summary) == ("unavailable", f"not available with torch {torch.__version__}")
    assert verdict.problems[0].message == "not on this Python"
