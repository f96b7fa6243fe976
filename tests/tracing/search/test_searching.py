"""What a search costs, leaves behind and repeats."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.tracing.search.priors.written import written_inputs
from fxlsp.tracing.search.trials.budget import LARGE, Budget, OutOfBudgetError, WorkMeter
from fxlsp.tracing.search.trials.values import Group, Open, Size, Tensor, Text, Trial, changed, part_at
from tests.tracing.search.frames import asked


def test_no_more_tries_begin_than_the_budget_has() -> None:
    budget = Budget(tries=3)
    assert [budget.begin_try() for _ in range(4)] == [True, True, True, False]
    assert budget.tries == 3


def test_a_model_whose_first_tries_take_all_the_work_has_a_few() -> None:
    budget = Budget(work=0)
    assert [budget.begin_try() for _ in range(LARGE + 1)] == [True] * LARGE + [False]


def test_a_try_that_computes_for_ever_is_ended() -> None:
    with pytest.raises(OutOfBudgetError):
        compute_for_ever(Budget(WorkMeter(seconds=0.001)))


def compute_for_ever(budget: Budget) -> None:
    with budget.enforced():
        while True:
            # What the user's code may do to errors.
            with contextlib.suppress(Exception):
                time.process_time()


def test_a_guess_is_the_text_that_makes_it() -> None:
    made = Group("call", (("width", Size(8)), ("sizes", Group("list", (("[0]", Size(3)),)))), "Net")
    fed = Group("inputs", (("x", Tensor((2, 3))), ("mask=", Text("None"))))
    trial = changed(Trial(made, fed), ("init", "sizes", "[0]"), Size(5))
    assert trial.init.text == "Net(width=8, sizes=[5])"
    assert trial.inputs is not None
    assert trial.inputs.text == "torch.randn(2, 3), mask=None"
    assert part_at(trial, ("inputs", "x")) == Tensor((2, 3))
    assert part_at(trial, ("inputs", "y")) is None
    assert not changed(trial, ("inputs", "x"), Open("x", 2)).is_concrete


@pytest.mark.parametrize("text", ["", "torch.randn(2, 3)", "torch.ones(2, dtype=torch.long), [1, 2], mask=None"])
def test_what_an_earlier_search_wrote_is_read_argument_by_argument(text: str) -> None:
    assert written_inputs(text).text == text


MODEL = """
import torch
from torch import nn

class Net(nn.Module):
    made = 0
    def __init__(self, width, kind):
        super().__init__()
        type(self).made += 1
        assert kind in {"first", "second", "third"}
        self.a, self.number = nn.Linear(width, width), self.made

    def forward(self, x):
        return self.a(x) * self.number
"""


def test_a_search_finds_the_same_again(worker: Any, write: Callable[..., str]) -> None:
    path = write(MODEL)
    recipes = {worker.report(f"{path}:Net").recipe for _ in range(3)}
    assert len(recipes) == 1


def test_the_trace_knows_nothing_of_the_tries(worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(MODEL) + ":Net")
    assert report.recipe.source == "search"
    (product,) = [node for node in report.nodes if node.target == "operator.mul"]
    # A constant of the graph, were it not for the class's counter, which begins at 0 for the trace.
    assert "1" in str(product.inputs[1])


def test_a_try_leaves_parameters_their_data_whatever_the_model_sets(worker: Any, write: Callable[..., str]) -> None:
    text = MODEL.replace(
        "return self.a(x)", "self.a.bias.data = self.a.bias.data.clamp(0, 1)\n        return self.a(x)"
    )
    report = worker.report(write(text) + ":Net")
    assert report.recipe.inputs is not None
    assert report.complete


def test_what_was_found_can_be_evaluated_by_whoever_reads_it(worker: Any, write: Callable[..., str]) -> None:
    path = write(MODEL)
    found = worker.report(f"{path}:Net").recipe
    report = worker.report(f"{path}:Net", found.init, found.inputs)
    assert report.complete
    assert report.recipe.source == "option"


def test_what_was_found_before_an_edit_is_tried_first(worker: Any, write: Callable[..., str]) -> None:
    guess = {"init": "Net(width=5, kind='third')", "inputs": "torch.randn(7, 5)"}
    recipe = asked(worker, write(MODEL), guess).recipe
    assert (recipe.init, recipe.inputs, recipe.source) == (guess["init"], guess["inputs"], "search")


def test_what_was_found_before_and_does_not_hold_any_more_is_found_anew(worker: Any, write: Callable[..., str]) -> None:
    guess = {"init": "Net(wide=5, kind='third')", "inputs": "torch.randn(7, 5)"}
    report = asked(worker, write(MODEL), guess)
    assert report.recipe.init.startswith("Net(width=")
    assert report.complete


def test_a_recipe_that_says_everything_is_not_searched(worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(MODEL) + ":Net", "Net(3, 'first')", "torch.randn(2, 4)")
    assert report.recipe.inputs == "torch.randn(2, 4)"
    assert {problem.code for problem in report.problems} == {"FX401"}


def test_a_search_refuses_what_a_trace_refuses(worker: Any, write: Callable[..., str], tmp_path: Any) -> None:
    text = MODEL.replace("super().__init__()", f"super().__init__()\n        open({str(tmp_path / 'out')!r}, 'w')")
    assert worker.answer(write(text) + ":Net")["type"] == "failure"
    assert not (tmp_path / "out").exists()


def test_a_model_of_which_the_layers_have_unknown_names_does_not_end_the_search(
    worker: Any, write: Callable[..., str]
) -> None:
    text = MODEL.replace(
        "self.a, self.number", "self.__setattr__(kind, nn.ReLU())\n        self.a, self.number"
    ).replace("assert kind in", "kinds =")
    report = worker.report(write(text) + ":Net")
    assert report.complete
