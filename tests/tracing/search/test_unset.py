"""Attributes that the constructor sets in another branch than the one that a guess leads to."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.tracing.search.frames import net

LAYER = "self.a = nn.Linear(dim, dim)"


@pytest.mark.parametrize(
    ("arguments", "made", "init"),
    [
        pytest.param("dim, use_a", f"if use_a:\n    {LAYER}", "Net(dim=32, use_a=True)", id="a flag"),
        pytest.param(
            "dim, use_a",
            f"self.use_a = use_a\nif self.use_a:\n    {LAYER}",
            "Net(dim=32, use_a=True)",
            id="a flag that is kept",
        ),
        pytest.param(
            "dim, depth, kind",
            "if depth == 3:\n"
            "    if kind not in ('x', 'y'):\n"
            "        self.b = nn.Linear(dim, dim)\n"
            "    else:\n"
            f"        {LAYER}",
            "Net(dim=32, depth=3, kind='x')",
            id="behind several conditions",
        ),
        pytest.param(
            "dim, use_a",
            "if use_a:\n    self.register_buffer('a', torch.ones(dim))",
            "Net(dim=64, use_a=True)",
            id="a buffer",
        ),
    ],
)
def test_what_was_guessed_is_guessed_so_that_an_attribute_is_set(
    arguments: str, made: str, init: str, worker: Any, write: Callable[..., str]
) -> None:
    run = "return x * self.a" if "register" in made else "return self.a(x)"
    recipe = worker.report(write(net(arguments, made, "x", run)) + ":Net").recipe
    assert recipe.inputs is not None
    assert recipe.init == init


def test_one_that_is_missing_by_default_is_reported(worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(
        write(net("dim=4, share=True", f"if not share:\n    {LAYER}", "x", "return self.a(x)")) + ":Net"
    )
    assert report.recipe.init == "Net()"
    (problem,) = report.problems
    assert "has no attribute 'a'" in problem.message
