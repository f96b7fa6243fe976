"""Sizes that depend on data are symbols, and never the numbers of one random run."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from fxlsp.report.report import Report
from tests.support.worker import Worker

MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 5)

    def forward(self, x):
        {forward}
"""
Shapes = Callable[..., "list[Any]"]


def tensors(output: Any) -> Iterator[Any]:
    """Yield the shape of each tensor, with its symbols."""
    if output is not None and "shape" in output:
        yield tuple(output.get("symbolic", output["shape"]))
    for item in (output or {}).get("list", ()):
        yield from tensors(item)


@pytest.fixture
def report(worker: Worker) -> Callable[..., Report]:
    def traced(*forward: str, inputs: str = "torch.randn(4, 8)") -> Report:
        text = MODEL.format(forward="\n        ".join(forward))
        return worker.report("net.py:Net", "Net()", inputs, overlays={"net.py": text})

    return traced


@pytest.fixture
def shapes(report: Callable[..., Report]) -> Shapes:
    def returned(*forward: str, inputs: str = "torch.randn(4, 8)") -> list[Any]:
        return [*tensors(report(*forward, inputs=inputs).nodes[-1].output)]

    return returned


@pytest.mark.parametrize(
    ("expression", "shape"),
    [
        ("torch.nonzero(x > 0)", ("u0", 2)),
        ("x[x > 0]", ("u0",)),
        ("torch.masked_select(x, x > 0)", ("u0",)),
        ("torch.unique((x * 9).long())", ("u0",)),
        ("torch.where(x.sum(1) > 0)[0]", ("u0",)),
        ("x[x[:, 0] > 0]", ("u0", 8)),
        ("self.fc(x[x[:, 0] > 0])", ("u0", 5)),
        ("x[x[:, 0] > 0].flatten()", ("8*u0",)),
        ("x.flatten()[x.flatten().argsort()][: 3]", (3,)),
        ("self.fc(x)", (4, 5)),
    ],
)
def test_what_selects_by_values_has_a_symbol_and_other_sizes_their_numbers(
    shapes: Shapes, expression: str, shape: tuple[Any, ...]
) -> None:
    assert shapes(f"return {expression}") == [shape]


def test_sizes_that_always_agree_share_a_symbol_and_others_do_not(shapes: Shapes) -> None:
    found = shapes(
        "kept, rest = x[x > 0], x[x > 1]", "return torch.cat([kept, kept]), torch.cat([kept, rest]), torch.relu(rest)"
    )
    assert found == [("2*u0",), ("u0+u1",), ("u1",)]


def test_the_symbol_says_that_it_depends_on_data(report: Callable[..., Report]) -> None:
    assert report("return x[x > 0]").symbols == {"u0": None}


def test_inputs_that_are_always_the_same_are_tried_with_another_sign(shapes: Shapes) -> None:
    assert shapes("return x[x > 2]", inputs="torch.arange(7.0)") == [("u0",)]


def test_a_run_whose_data_the_model_does_not_take_says_nothing(shapes: Shapes) -> None:
    # The negative of these inputs has no largest value above 2.
    found = shapes("kept = x[x > 2]", "return kept, kept.max()", inputs="torch.arange(7.0)")
    assert found == [(4,), ()]


def test_a_graph_that_needs_no_data_has_no_such_symbols(report: Callable[..., Report]) -> None:
    assert report("return torch.where(x > 0, x, -x)").symbols == {}
