"""Sizes that are solved for, by how two that do not fit moved with one that was changed."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
import torch

from fxlsp.tracing.search.rules.measured import PROBE, SOLVED
from fxlsp.tracing.search.trials.runner import TorchCall
from fxlsp.tracing.search.trials.values import Group, Measurement, Origin, Tensor, Text, Trial
from tests.tracing.search.frames import evidence_of, net, trials_after


def trial(*shapes: tuple[int, ...]) -> Trial:
    return Trial(
        Text("Net()"), Group("inputs", tuple((f"x{index}", Tensor(each)) for index, each in enumerate(shapes)))
    )


def linear(got: int, want: int) -> TorchCall:
    return TorchCall("linear", (torch.empty(2, got), torch.empty(5, want)), {})


def inputs(trials: list[Trial]) -> list[str]:
    return [each.inputs.text for each in trials if each.inputs is not None]


def test_each_size_is_probed_by_itself_and_the_edges_of_a_map_together() -> None:
    found = trials_after(trial((2, 3, 64, 64), (2, 16, 7)), RuntimeError(), PROBE, linear(48, 32))
    assert inputs(found) == [
        "torch.randn(2, 3, 128, 128), torch.randn(2, 16, 7)",
        "torch.randn(2, 6, 64, 64), torch.randn(2, 16, 7)",
        "torch.randn(2, 3, 64, 128), torch.randn(2, 16, 7)",
        "torch.randn(2, 3, 64, 64), torch.randn(2, 16, 14)",
        "torch.randn(2, 3, 64, 64), torch.randn(2, 32, 7)",
    ]


@pytest.mark.parametrize(
    ("first", "probe", "got", "want", "solved"),
    [
        pytest.param((2, 7), (2, 14), (39, 46), (40, 40), ["torch.randn(2, 8)"], id="a summand"),
        pytest.param((2, 7), (2, 14), (28, 56), (36, 36), ["torch.randn(2, 9)"], id="a factor"),
        pytest.param((2, 7), (2, 14), (30, 30), (28, 56), ["torch.randn(2, 8)"], id="of what is wanted"),
        pytest.param(
            (2, 3, 64, 64), (2, 3, 128, 128), (64, 256), (16, 16), ["torch.randn(2, 3, 32, 32)"], id="a square"
        ),
        pytest.param((2, 7), (2, 14), (30, 30), (28, 28), [], id="without influence"),
        pytest.param((2, 7), (2, 14), (28, 56), (400000, 400000), [], id="too large"),
    ],
)
def test_the_size_at_which_two_that_do_not_fit_are_equal_is_tried_next(
    first: tuple[int, ...],
    probe: tuple[int, ...],
    got: tuple[int, int],
    want: tuple[int, int],
    solved: list[str],
) -> None:
    before = Measurement(trial(first), (), got[0], want[0])
    measured = replace(trial(probe), origin=Origin((PROBE,), (1, 3), before))
    found = trials_after(measured, RuntimeError(), SOLVED, linear(got[1], want[1]))
    assert inputs(found)[: len(solved)] == solved
    assert bool(found) == bool(solved)


def test_what_fails_elsewhere_measures_nothing() -> None:
    before = Measurement(trial((2, 7)), (("another frame", 3),), 28, 36)
    measured = replace(trial((2, 14)), origin=Origin((PROBE,), (1, 3), before))
    assert not trials_after(measured, RuntimeError(), SOLVED, linear(56, 36))
    assert evidence_of(measured, RuntimeError(), linear(56, 36)).trial.origin.before is before


@pytest.mark.parametrize(
    ("made", "signature", "run"),
    [
        pytest.param(
            "self.a, self.b = nn.Linear(12, 4), nn.Linear(5, 3)",
            "x, y",
            "return self.b(torch.cat([self.a(x).mean(1), y], -1))",
            id="one of several joined",
        ),
        pytest.param(
            "self.a, self.b = nn.Conv2d(3, 4, 3, padding=1), nn.Linear(4 * 20 * 20, 2)",
            "x",
            "return self.b(self.a(x).flatten(1))",
            id="a map that was flattened",
        ),
    ],
)
def test_inputs_are_found_whose_sizes_no_number_shows(
    made: str, signature: str, run: str, worker: Any, write: Callable[..., str]
) -> None:
    report = worker.report(write(net("", made, signature, run).replace("(self, ):", "(self):")) + ":Net")
    assert report.recipe.inputs is not None
    assert report.complete
