"""Problems that hang on a guessed argument are hints that name it; all others stay what they are."""

from __future__ import annotations

import ast
import sys
import textwrap
from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.locations import Location
from fxlsp.report.report import Report
from fxlsp.tracing.model.diagnosis.guessed_branches import deciding_argument
from tests.tracing.search.frames import net


def argument(
    stored: str, body: str, init: str = "Net(config=1, mode='a', fn=f, dim=3)", is_of_kind: bool = False
) -> str | None:
    """Return the argument on which the expression ``HERE`` hangs, in the ``forward`` of a class."""
    constructor = f"    def __init__(self, config, mode, fn, dim, careful=True):\n{textwrap.indent(stored, ' ' * 8)}\n"
    text = f"class Net:\n{constructor}    def forward(self, x, y):\n{textwrap.indent(body, ' ' * 8)}\n"
    tree = ast.parse(text)
    (node,) = (each for each in ast.walk(tree) if isinstance(each, ast.Name) and each.id == "HERE")
    place = Location("/net.py", node.lineno, node.col_offset + 1, node.lineno, node.col_offset + 5)
    return deciding_argument(place, init, tree, is_of_kind)


@pytest.mark.parametrize(
    ("stored", "body", "expected"),
    [
        ("self.a = config.a", "if self.a:\n    HERE", "config"),
        ("self.a = config.a", "if not self.a:\n    HERE", "config"),
        ("self.a = config['a']", "if self.a:\n    pass\nelse:\n    HERE", "config"),
        ("self.a = config.get('a', 1)", "return HERE if self.a else x", "config"),
        ("self.a = bool(config.a)", "while self.a:\n    HERE", "config"),
        ("self.a = not config.a", "return self.a and HERE", "config"),
        ("self.config = config", "if self.config.a.b:\n    if x:\n        HERE", "config"),
        ("self.mode = mode", "if self.mode == 'slow':\n    for each in x:\n        HERE", "mode"),
        ("self.n = dim", "if self.n > 16:\n    HERE", "dim"),
        ("self.a = getattr(config, 'a')", "if self.a:\n    return x\nHERE", "config"),
        ("self.a = config.a", "with x:\n    if self.a and y:\n        HERE", "config"),
    ],
)
def test_a_guessed_value_decides_whether_an_expression_runs(stored: str, body: str, expected: str) -> None:
    assert argument(stored, body) == expected


@pytest.mark.parametrize(
    ("stored", "body"),
    [
        ("self.a = config.a", "HERE"),
        ("self.a = config.a", "if HERE:\n    self.a"),
        ("self.a = config.a", "if HERE and self.a:\n    pass"),
        ("self.a = config.a", "if self.a:\n    x = 1\nHERE"),
        ("self.a = config.a", "if x:\n    HERE"),
        ("self.careful = careful", "if self.careful:\n    HERE"),
        ("self.lin = Linear(dim, dim)", "if self.lin.bias is not None:\n    HERE"),
        ("self.a = config.a", "if x.a:\n    HERE"),
        ("self.a = 3", "if self.a:\n    HERE"),
    ],
)
def test_what_no_guess_decides_hangs_on_none(stored: str, body: str) -> None:
    assert argument(stored, body) is None


def test_the_result_of_a_guessed_function_is_of_a_guessed_kind() -> None:
    assert argument("self.fn = fn", "y = self.fn(x)\nlen(HERE)") is None
    assert argument("self.fn = fn", "HERE = self.fn(x)", is_of_kind=True) == "fn"
    assert argument("self.fn = Linear(dim)", "HERE = self.fn(x)", is_of_kind=True) is None


def test_an_argument_that_the_guess_leaves_to_its_default_is_not_guessed() -> None:
    body = "if self.a:\n    HERE"
    assert argument("self.a = config", body, init="Net(1)") == "config"
    assert argument("self.a = dim", body, init="Net(1)") is None
    assert argument("self.a = config", body, init="make()") is None
    assert argument("self.a = config", body, init="not a call") is None


@pytest.mark.skipif(sys.version_info < (3, 11), reason="this Python has no columns, so the branch is not known")
def test_a_problem_of_a_guessed_branch_is_a_hint(worker: Any, write: Callable[..., str]) -> None:
    text = net("config", "self.clip = config.clip", "x", "if not self.clip and x.max() > 1:\n    x = x * 2\nreturn x")
    report: Report = worker.report(write(text) + ":Net")
    assert [(problem.code, problem.severity) for problem in report.problems] == [("FX101", "hint")]
    assert report.problems[0].message.endswith("\nThis hangs on the argument config, which was guessed.")


def test_a_problem_of_every_branch_stays_a_warning(worker: Any, write: Callable[..., str]) -> None:
    text = net("dim", "self.lin = nn.Linear(dim, dim)", "x", "if x.max() > 1:\n    x = x * 2\nreturn self.lin(x)")
    report: Report = worker.report(write(text) + ":Net")
    assert [(problem.code, problem.severity) for problem in report.problems] == [("FX101", "warning")]
