"""Operands that are inputs but for the order of their dimensions, and some of one, get the shape that fits."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import pytest
import torch

from fxlsp.tracing.search.size_edits import rearranged
from fxlsp.tracing.search.trials.runner import TorchCall
from fxlsp.tracing.search.trials.values import Edit, Group, Tensor, Text, Trial, edited
from tests.tracing.search.frames import net, suggested


def trial(**inputs: Tensor) -> Trial:
    return Trial(Text("Net()"), Group("inputs", tuple(inputs.items())))


def inputs_of(given: Trial, edits: Iterable[Edit]) -> list[str]:
    trials = (edited(given, edit) for edit in edits)
    return [each.inputs.text for each in trials if each.inputs is not None]


def test_an_operand_whose_dimensions_were_moved_shows_the_shape_of_the_input() -> None:
    given = trial(x=Tensor((2, 16, 6)), y=Tensor((2, 5)))
    assert inputs_of(given, rearranged(given, (16, 2, 6), (2, 2, 9))) == ["torch.randn(2, 2, 9), torch.randn(2, 5)"]


def test_dimensions_of_one_that_were_put_in_are_taken_out_of_the_wanted_shape() -> None:
    given = trial(x=Tensor((2, 32, 64, 64)))
    assert inputs_of(given, rearranged(given, (2, 32, 1, 64, 64), (2, 4096, 4096))) == ["torch.randn(2, 4096)"]


def test_equal_dimensions_are_distinguished_by_what_each_is_to_be() -> None:
    given = trial(x=Tensor((3, 7, 7)))
    assert inputs_of(given, rearranged(given, (7, 7, 3), (8, 9, 3))) == ["torch.randn(3, 8, 9)", "torch.randn(3, 9, 8)"]


def test_an_input_of_another_shape_is_no_operand() -> None:
    assert list(rearranged(trial(x=Tensor((2, 16, 6))), (2, 32, 6), (2, 16, 6))) == []


@pytest.mark.parametrize(
    ("one", "other", "fitted"),
    [
        ((2, 16, 1024), (32, 48), "torch.randn(2, 32, 48)"),
        ((2, 3, 64, 64), (1, 3, 24, 24), "torch.randn(2, 3, 24, 24)"),
        ((64, 64), (2, 3, 24, 24), "torch.randn(24, 24)"),
    ],
)
def test_where_several_sizes_differ_an_operand_gets_all_of_them_at_once(
    one: tuple[int, ...], other: tuple[int, ...], fitted: str
) -> None:
    call = TorchCall("mul", (torch.empty(one), torch.empty(other)), {})
    assert suggested(trial(x=Tensor(one)), call)[0] == fitted


@pytest.mark.parametrize(
    ("made", "signature", "run", "inputs"),
    [
        pytest.param(
            "self.a = nn.Conv2d(3, 4, 1)",
            "x, order",
            "y = self.a(x).flatten(2)\nlike = y.transpose(1, 2) @ y\n"
            "return like * order.unsqueeze(2).expand_as(like).transpose(1, 2)",
            "torch.randn(2, 3, 64, 64), torch.randn(2, 4096)",
            id="what is expanded",
        ),
        pytest.param(
            "self.a = nn.Linear(6, 9)",
            "x, memory",
            "return torch.bmm(memory.transpose(0, 1), self.a(x)[:, 0].unsqueeze(2))",
            "torch.randn(2, 16, 6), torch.randn(2, 2, 9)",
            id="a batch of matrices of which neither size fits",
        ),
    ],
)
def test_an_input_gets_the_shape_that_fits(
    made: str, signature: str, run: str, inputs: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net("", made, signature, run).replace("(self, ):", "(self):")
    assert worker.report(write(text) + ":Net").recipe.inputs == inputs
