"""Recipes from a recording: followed while they work, passed over once the code is newer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxlsp.report.problems import Failure

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        assert width % 2 == 0, 'even'
        self.a = nn.Linear(4, width)

    def forward(self, x):
        return self.a(x)
"""


def test_a_recorded_recipe_is_followed(worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(NET) + ":Net", "Net(width=6)", "torch.randn(2, 4)", source="recording")
    assert (report.recipe.source, report.recipe.init) == ("recording", "Net(width=6)")
    assert report.complete
    assert not report.problems


def test_one_that_makes_no_model_any_more_gives_way_to_a_search(worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(NET) + ":Net", "Net(width=9)", "torch.randn(2, 4)", source="recording")
    assert report.recipe.source == "search"
    assert report.complete


def test_inputs_that_cannot_be_made_any_more_give_way_to_a_search(worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(NET) + ":Net", "Net(width=6)", "no_such_name", source="recording")
    assert report.recipe.source == "search"


def test_recorded_inputs_count_where_the_construction_is_searched_for(worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(NET) + ":Net", None, "torch.randn(7, 4)", source="recording")
    assert report.recipe.inputs == "torch.randn(7, 4)"
    assert report.complete


def test_a_model_that_fails_whatever_it_is_given_has_the_failure_of_its_code(
    worker: Any, write: Callable[..., str]
) -> None:
    text = NET.replace("assert width % 2 == 0, 'even'", "self.n = no_such_name")
    answer = worker.answer(write(text) + ":Net", "Net(width=6)", "torch.randn(2, 4)", source="recording")
    assert "no_such_name" in Failure.from_json(answer["failure"]).message
