"""Inputs that were found before an edit stay while the model takes them, and are found anew when it does not."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from fxlsp.report.problems import Problem
from fxlsp.report.report import Report
from fxlsp.tracing.search.priors.inputs import first_inputs
from fxlsp.tracing.search.trials.acceptance import InputAcceptance
from tests.tracing.search.frames import asked, net

IMAGE = "torch.randn(2, 3, 64, 64)"
CONV = "self.one, self.two, self.fc = nn.Conv2d(3, 16, 3), nn.Conv2d(16, 32, 3), nn.Linear(32, 10)"
STAYING = {
    "a view": (CONV, "x", "x = self.two(self.one(x))\nx = x.view(-1, 33)\nreturn x", IMAGE),
    "a shape": (CONV, "x", "x = self.two(self.one(x)).mean((2, 3))\nreturn self.fc(x.reshape(-1, 33))", IMAGE),
    "a broadcast": (CONV, "x", "x = self.two(self.one(x)).mean((2, 3))\nreturn x + torch.ones(32, 1, 7)", IMAGE),
    "joined maps": (CONV, "x", "x = self.one(x)\nreturn torch.cat([x, self.two(x)], 1)", IMAGE),
    "an input that is used again": (CONV, "x", "return self.one(x) + x", IMAGE),
    "a later layer": (
        "self.one, self.two = nn.Linear(8, 4), nn.Linear(5, 2)",
        "x",
        "return self.two(self.one(x))",
        "torch.randn(2, 3, 8)",
    ),
    "a name that nothing binds": (CONV, "x", "y = self.one(z)\nreturn y", IMAGE),
    "two inputs": (
        "self.one, self.two = nn.Linear(8, 4), nn.Linear(6, 4)",
        "x, y",
        "x = self.one(x)\ny = self.two(y)\nreturn torch.cat([x, y], 1).view(-1, 33)",
        "torch.randn(2, 8), torch.randn(2, 6)",
    ),
}
CHANGING = {
    "channels of the first layer": (CONV.replace("2d(3,", "2d(4,"), "x", "return self.one(x)", IMAGE),
    "features of the first layer behind a view": (
        "self.fc = nn.Linear(700, 10)",
        "x",
        "return self.fc(x.flatten(1))",
        "torch.randn(2, 784)",
    ),
    "features of a second input": (
        "self.one, self.two = nn.Linear(8, 4), nn.Linear(7, 4)",
        "x, y",
        "x = self.one(x)\nreturn x + self.two(y)",
        "torch.randn(2, 8), torch.randn(2, 6)",
    ),
    "one more input": (CONV, "x, y", "return self.one(x) + self.one(y)", IMAGE),
    "a rank that is unpacked": (CONV, "x", "b, c, h, w = x.shape\nreturn self.one(x)", "torch.randn(2, 64)"),
}


def of_inputs(report: Report) -> list[Problem]:
    """The failing operations and mistakes, which other inputs may cause or hide."""
    return [problem for problem in report.problems if problem.code.startswith("FX4")]


@pytest.mark.parametrize("what", STAYING)
def test_what_fails_behind_the_first_use_of_all_inputs_is_reported_with_them(
    what: str, worker: Any, write: Callable[..., str]
) -> None:
    made, signature, body, inputs = STAYING[what]
    report = asked(worker, write(net("", made, signature, body)), {"init": "Net()", "inputs": inputs})
    assert report.recipe.inputs == inputs
    assert [problem.code for problem in of_inputs(report)] in (["FX401"], ["FX403"])


@pytest.mark.parametrize("what", CHANGING)
def test_inputs_that_the_first_operation_refuses_are_found_as_for_a_new_file(
    what: str, worker: Any, write: Callable[..., str]
) -> None:
    made, signature, body, inputs = CHANGING[what]
    path = write(net("", made, signature, body))
    new: Report = worker.report(f"{path}:Net")
    report = asked(worker, path, {"init": "Net()", "inputs": inputs})
    assert report.recipe == new.recipe
    assert report.recipe.inputs not in (None, inputs)
    assert not of_inputs(report)


def test_what_fails_with_other_inputs_alone_is_a_note(worker: Any, write: Callable[..., str]) -> None:
    made, signature, body, inputs = STAYING["a view"]
    report = asked(worker, write(net("", made, signature, body)), {"init": "Net()", "inputs": inputs})
    (problem,) = of_inputs(report)
    assert problem.severity == "info"
    assert problem.message.startswith("With other inputs this may work: ")


def test_inputs_stay_when_the_constructor_takes_another_argument(worker: Any, write: Callable[..., str]) -> None:
    text = net("width, depth", "self.fc = nn.Linear(12, width + depth)", "x", "return self.fc(x)")
    report = asked(worker, write(text), {"init": "Net(64)", "inputs": "torch.randn(5, 7, 12)"})
    assert report.recipe.inputs == "torch.randn(5, 7, 12)"


def test_what_fails_with_guessed_arguments_is_not_proven_by_a_guess_of_before(
    worker: Any, write: Callable[..., str]
) -> None:
    text = net(
        "width", "self.one, self.two = nn.Linear(8, width), nn.Linear(30, 5)", "x", "return self.two(self.one(x))"
    )
    report = asked(worker, write(text), {"init": "Net(20)", "inputs": "torch.randn(2, 8)"})
    assert {problem.severity for problem in report.problems} <= {"info"}


def test_the_mode_of_before_stays(worker: Any, write: Callable[..., str]) -> None:
    text = net("", "self.fc = nn.Linear(8, 4)", "x", "return self.fc(x)")
    report = asked(worker, write(text), {"init": "Net().eval()", "inputs": "torch.randn(5, 7, 8)"})
    assert (report.recipe.init, report.recipe.inputs) == ("Net().eval()", "torch.randn(5, 7, 8)")


def test_an_input_is_accepted_by_an_operation_that_takes_it_beside_another_tensor() -> None:
    given, weight = torch.ones(2, 3), torch.ones(3, 3)
    inputs = InputAcceptance([given])
    assert inputs.is_refused(None)
    flat = given.flatten()
    inputs.note([given], flat)
    assert inputs.is_refused([flat, weight])
    inputs.note([flat, weight], torch.ones(2))
    assert not inputs.is_refused([given, weight])


def test_an_input_is_refused_though_another_one_is_accepted() -> None:
    one, other, weight = torch.ones(2), torch.ones(3), torch.ones(4)
    inputs = InputAcceptance([one, {"other": other}])
    inputs.note([one, weight], torch.ones(2))
    assert inputs.is_refused([other, weight])
    assert not inputs.is_refused([one, weight])


def test_a_guess_with_which_a_search_for_a_new_file_begins_does_not_end_it(
    worker: Any, write: Callable[..., str]
) -> None:
    class Net(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.fc = torch.nn.Linear(768, 10)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.as_tensor(self.fc(torch.nn.functional.max_pool2d(x, 2).flatten(1)))

    body = "return self.fc(F.max_pool2d(x, 2).flatten(1))"
    path = write(net("", "self.fc = nn.Linear(768, 10)", "x", body))
    new: Report = worker.report(f"{path}:Net")
    first = first_inputs(Net())[0].text
    assert new.recipe.inputs not in (None, first)
    assert asked(worker, path, {"init": "Net()", "inputs": first}).recipe == new.recipe
