"""Operations that raise when they run, and graphs that fail where their model runs."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.cases import ELSEWHERE, Case, Followed, StandElsewhere, Stands, Traces
from tests.support.marked import PREAMBLE

FAILING = {
    "a typo": Case("return ⟦x.shap⟧ + 1", is_complete=False),
    "a method that does not exist": Case("return ⟦x.foo()⟧", is_complete=False),
    "shapes": Case("return ⟦x @ x⟧", is_complete=False),
    "a layer": Case("return ⟦self.lin(x)⟧", "self.lin = nn.Linear(5, 4)", is_complete=False),
    "a layer of several": Case(
        "y = self.a(x)\nz = ⟦self.b(y)⟧\nreturn z + y",
        "self.a = nn.Linear(4, 5)\nself.b = nn.Linear(4, 5)",
        is_complete=False,
    ),
    "a view": Case("return ⟦x.view(5, -1)⟧", is_complete=False),
    "an argument": Case("return ⟦x.sum(dimension=1)⟧", is_complete=False),
    "a function": Case("return ⟦torch.cat([x, x[:, :2]], 0)⟧", is_complete=False),
    "an index": Case("return ⟦x[5]⟧ + 1", is_complete=False),
    "a dimension": Case("return ⟦x.transpose(1, 2)⟧", is_complete=False),
    "unpacking": Case("⟦a, b⟧ = x.chunk(4, 1)\nreturn a + b", also=frozenset()),
    "unpacking a shape": Case("⟦b, c, h, w⟧ = x.shape\nreturn x", is_complete=False),
}


@pytest.mark.parametrize("name", FAILING)
def test_an_operation_that_fails_is_located_at_itself(name: str, stands: Stands) -> None:
    stands(FAILING[name], "FX401")


@pytest.mark.parametrize("spelling", ELSEWHERE)
def test_an_operation_that_fails_is_located_at_itself_elsewhere(spelling: str, stand_elsewhere: StandElsewhere) -> None:
    stand_elsewhere(FAILING, "FX401", spelling)


@pytest.mark.parametrize(
    "body",
    [
        "if ⟦x.sum() > 0⟧:\n    x = x + 1\nreturn ⟦self.lin(x)⟧",
        "y = ⟦self.lin(x)⟧\nif ⟦x.sum() > 0⟧:\n    x = x + 1\nreturn x",
    ],
)
def test_a_failing_operation_and_what_cannot_be_traced_are_both_reported(body: str, followed: Followed) -> None:
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    text = (
        "class Net(nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        f"        self.lin = nn.Linear(5, 4)\n\n    def forward(self, x):\n{lines}"
    )
    codes = ["FX101", "FX401"] if body.startswith("if") else ["FX401", "FX101"]
    followed(text, *codes)


def test_what_only_the_graph_fails_at_is_reported_where_the_ways_part(followed: Followed) -> None:
    followed(
        """
        class Net(nn.Module):
            def forward(self, x):
                if not ⟦isinstance(x, torch.Tensor)⟧:
                    x = x.no_such_method()
                return x + 1
        """,
        "FX301",
    )


def test_what_is_none_to_the_model_is_none_behind_it(followed: Followed) -> None:
    report = followed(
        """
        class Net(nn.Module):
            def forward(self, x, **kwargs):
                mask = kwargs.get("mask")
                if mask is not None:
                    x = x.masked_fill(⟦mask[0]⟧, 0)
                return x + 1
        """,
        "FX402",
        also=frozenset({"FX318"}),
    )
    assert report.complete
    assert [node.target for node in report.nodes] == ["x", "**kwargs", "get", "operator.add", "output"]


TRACES = {
    "a matrix product": Case("return x @ x.T"),
    "an error that is never raised": Case("if self.n:\n    return x @ x\nreturn x + 1", "self.n = 0"),
}


@pytest.mark.parametrize("name", TRACES)
def test_operations_that_run_are_silent(name: str, traces: Traces) -> None:
    traces(TRACES[name])


@pytest.mark.parametrize("body", ["raise NotImplementedError", "return x.missing(4).also", "return self.decode(x)"])
def test_what_a_forward_that_never_returns_gives_is_unknown(body: str, worker: Any, write: Callable[..., str]) -> None:
    text = f"from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x):\n        {body}\n"
    report = worker.report(write(text) + ":Net", "Net()", None)
    assert report.calls[0].output is None
    assert report.nodes[-1].output is None


@pytest.mark.parametrize(
    "text", ["{x}", "{x!r}", "{x!s:>40}", "{x.shape} {x.sum()}", "{self.lin.weight}", "{x.shape[0]:>3}"]
)
def test_an_error_whose_text_has_values_is_reported_as_it_is(text: str, worker: Any, write: Callable[..., str]) -> None:
    model = f"""
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 4)

            def forward(self, x):
                if self.lin.in_features != 5:
                    raise ValueError(f"unexpected {text}")
                return self.lin(x)
        """
    path = write(PREAMBLE + textwrap.dedent(model))
    problems = worker.report(f"{path}:Net", "Net()", "torch.ones(3, 4)").problems
    (problem,) = [each for each in problems if each.code.startswith("FX4")]
    assert (problem.code, problem.severity) == ("FX401", "error")
    assert problem.location is not None
    assert "unexpected " in problem.message
    assert "FakeTensor" not in problem.message
    assert problem.location.line == path_line(path, "raise ValueError")


def path_line(path: str, text: str) -> int:
    """Return the number of the first line of a file that has a text."""
    lines = Path(path).read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, 1) if text in line)
