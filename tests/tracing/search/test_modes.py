"""A model that wants what cannot be found out while it trains is run in eval mode, and its recipe says so."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fxlsp.tracing.search.trials.runner import in_mode_of
from fxlsp.tracing.search.trials.values import Text, Trial

MODEL = """
import torch
from torch import nn

class Part(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.conv = nn.Conv2d(width, width, 3)

    def forward(self, x, boxes=None):
        x = self.conv(x)
        if self.training:
            return self.loss(x, boxes)
        return x

    def loss(self, x, boxes):
        return x * boxes.overlaps(x).grades["all"].best_of(x)

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.part = Part(width)

    def forward(self, x):
        return self.part(x)
"""


def test_what_cannot_be_fed_while_it_trains_is_run_in_eval_mode(worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(MODEL) + ":Net")
    assert report.recipe.init.endswith(".eval()")
    assert (report.mode, report.complete) == ("eval", True)


def test_what_can_be_fed_while_it_trains_is_run_in_train_mode(worker: Any, write: Callable[..., str]) -> None:
    text = MODEL.replace('boxes.overlaps(x).grades["all"].best_of(x)', "boxes.sum()").replace(
        "self.part(x)", "self.part(x, x)"
    )
    report = worker.report(write(text) + ":Net")
    assert not report.recipe.init.endswith(".eval()")
    assert (report.mode, report.complete) == ("train", True)


def test_each_part_has_its_own_mode_back_after_a_try() -> None:
    model = torch.nn.Sequential(torch.nn.Dropout(), torch.nn.Dropout().eval())
    with in_mode_of(Trial(Text("net"), eval_mode=True), model):
        assert not any(module.training for module in model.modules())
    assert [module.training for module in model.modules()] == [True, True, False]


def test_a_model_whose_eval_returns_nothing_is_not_made_in_that_mode() -> None:
    class Net(torch.nn.Module):
        def eval(self) -> None:  # type: ignore[override]
            super().eval()

    model = Net()
    with pytest.raises(TypeError, match="does not return"), in_mode_of(Trial(Text("net"), eval_mode=True), model):
        pass
    assert model.training
