"""Models that fail whatever they are fed: that is told, and nothing is told where other inputs might do."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.locations import Location
from fxlsp.report.report import Report
from tests.tracing.search.frames import asked, net

FAILING = {
    "a linear layer": (
        "self.first, self.second = nn.Linear(10, 20), nn.Linear(30, 5)",
        "x",
        "x = self.first(x)\nreturn self.second(x)",
        "self.second(x)",
    ),
    "a linear layer behind a pool": (
        "self.conv, self.fc = nn.Conv2d(3, 16, 3), nn.Linear(32, 5)",
        "x",
        "return self.fc(self.conv(x).mean((2, 3)))",
        "self.fc(self.conv(x).mean((2, 3)))",
    ),
    "a convolution": (
        "self.first, self.second = nn.Conv2d(3, 16, 3), nn.Conv2d(32, 8, 3)",
        "x",
        "return self.second(self.first(x))",
        "self.second(self.first(x))",
    ),
    "channels in groups": (
        "self.first, self.second = nn.Conv1d(3, 16, 3), nn.Conv1d(24, 24, 3, groups=4)",
        "x",
        "return self.second(self.first(x))",
        "self.second(self.first(x))",
    ),
    "a normalisation of a batch": (
        "self.conv, self.norm = nn.Conv2d(3, 16, 3), nn.BatchNorm2d(32)",
        "x",
        "return self.norm(self.conv(x))",
        "self.norm(self.conv(x))",
    ),
    "a normalisation of features": (
        "self.fc, self.norm = nn.Linear(3, 16), nn.LayerNorm(32)",
        "x",
        "return self.norm(self.fc(x))",
        "self.norm(self.fc(x))",
    ),
    "a sum": (
        "self.one, self.two = nn.Conv2d(3, 16, 3), nn.Conv2d(3, 32, 3)",
        "x",
        "return self.one(x) + self.two(x)",
        "self.one(x) + self.two(x)",
    ),
    "a product of matrices": (
        "self.fc, self.table = nn.Linear(3, 16), nn.Parameter(torch.ones(20, 4))",
        "x",
        "return self.fc(x) @ self.table",
        "self.fc(x) @ self.table",
    ),
    "a recurrent layer": (
        "self.embed, self.rnn = nn.Embedding(100, 32), nn.LSTM(64, 128)",
        "tokens",
        "return self.rnn(self.embed(tokens))",
        "self.rnn(self.embed(tokens))",
    ),
    "attention": (
        "self.fc, self.attention = nn.Linear(48, 128), nn.MultiheadAttention(64, 4)",
        "x",
        "x = self.fc(x)\nreturn self.attention(x, x, x)",
        "self.attention(x, x, x)",
    ),
    "features of two inputs of one size": (
        "self.first, self.second = nn.Linear(10, 20), nn.Linear(30, 5)",
        "x, y",
        "return self.second(self.first(x + y))",
        "self.second(self.first(x + y))",
    ),
    "tensors of other sizes that are stacked": (
        "self.fc = nn.Linear(8, 8)",
        "x",
        "x = self.fc(x)\nreturn torch.stack([x, x[..., :3]])",
        "torch.stack([x, x[..., :3]])",
    ),
    "a convolution of features": (
        "self.stem, self.conv = nn.Conv2d(3, 8, 3), nn.Conv2d(3, 4, 1)",
        "x",
        "x = self.stem(x).mean((-1, -2))\nreturn self.conv(x)",
        "self.conv(x)",
    ),
    "a product of batches without one": (
        "self.stem = nn.Conv2d(3, 8, 3)",
        "x",
        "x = F.adaptive_avg_pool2d(self.stem(x), 1).flatten(1)\nreturn torch.bmm(x, x)",
        "torch.bmm(x, x)",
    ),
    "a dimension that does not exist": (
        "self.stem = nn.Conv2d(3, 8, 3)",
        "x",
        "return torch.softmax(self.stem(x), dim=4)",
        "torch.softmax(self.stem(x), dim=4)",
    ),
    "integers in the place of features": (
        "self.stem, self.fc = nn.Conv2d(3, 8, 3), nn.Linear(8, 8)",
        "x",
        "x = F.adaptive_avg_pool2d(self.stem(x), 1).flatten(1)\nreturn self.fc(x.argmax(1))",
        "self.fc(x.argmax(1))",
    ),
    "features made integers": (
        "self.one, self.two = nn.Linear(8, 8), nn.Linear(8, 8)",
        "x",
        "x = self.one(x)\nreturn self.two(x.long())",
        "self.two(x.long())",
    ),
    "doubles in the place of floats": (
        "self.one, self.two = nn.Linear(8, 8), nn.Linear(8, 8)",
        "x",
        "x = self.one(x)\nreturn self.two(x.double())",
        "self.two(x.double())",
    ),
}
OPEN = {
    "an edge that is flattened": (
        "self.conv, self.fc = nn.Conv2d(3, 16, 3), nn.Linear(425, 5)",
        "x",
        "return self.fc(self.conv(x).flatten(1))",
    ),
    "an option that brings the rest": (
        "self.first, self.second = nn.Linear(10, 20), nn.Linear(30, 5)",
        "x, more=None",
        "x = self.first(x)\nif more is not None:\n    x = torch.cat([x, more], -1)\nreturn self.second(x)",
    ),
    "a rank that is asked for": (
        "self.first, self.second = nn.Linear(10, 20), nn.Linear(30, 5)",
        "x",
        "x = self.first(x)\nif x.dim() == 5:\n    return x\nreturn self.second(x)",
    ),
    "inputs of which a layer takes the sum": (
        "self.gate, self.out = nn.Conv2d(448, 128, 1), nn.Conv2d(128, 8, 1)",
        "h, x",
        "z = self.gate(torch.cat([h, x], 1))\nreturn self.out(z * h)",
    ),
    "a size that decides": (
        "self.first, self.second = nn.Linear(10, 20), nn.Linear(30, 5)",
        "x",
        "y = self.first(x)\nif x.shape[0] % 3 == 0:\n    return y\nreturn self.second(y)",
    ),
}
TYPED = {
    "a type that a script may turn the model into": (
        "self.one, self.two = nn.Linear(8, 8), nn.Linear(8, 8)",
        "x",
        "x = self.one(x)\nreturn self.two(x.to(torch.bfloat16))",
    ),
    "doubles of a model that may be of doubles": (
        "self.one, self.two = nn.Linear(8, 8), nn.Linear(8, 8)\nself.dtype = torch.float64",
        "x",
        "x = self.one(x)\nreturn self.two(x.double())",
    ),
}


LE_NET = net(
    "", "self.conv, self.fc = nn.Conv2d(3, 16, 3), nn.Linear(400, 5)", "x", "return self.fc(self.conv(x).flatten(1))"
)


@pytest.mark.parametrize("what", FAILING)
def test_sizes_that_fit_with_no_input_are_reported(what: str, worker: Any, write: Callable[..., str]) -> None:
    made, signature, body, failing = FAILING[what]
    text = net("", made, signature, body)
    report: Report = worker.report(write(text) + ":Net")
    (problem,) = report.problems
    assert (problem.code, problem.severity) == ("FX401", "error")
    assert problem.location is not None
    located = stands_at(text, problem.location)
    assert located == failing or (sys.version_info < (3, 11) and failing in located)  # 3.10 knows no columns.
    assert report.recipe.source == "search"


def test_shapes_are_known_as_far_as_a_model_runs(worker: Any, write: Callable[..., str]) -> None:
    made, signature, body, _ = FAILING["a linear layer"]
    report: Report = worker.report(write(net("", made, signature, body)) + ":Net")
    known = {node.name: node.output for node in report.nodes}
    assert known["first"] is not None
    assert known["first"]["shape"][-1] == 20
    assert known["second"] == {"shape": [2, 5], "dtype": "float32"}
    assert [node.name for node in report.nodes if node.assumed] == ["second", "output"]


@pytest.mark.parametrize("what", OPEN)
def test_sizes_that_may_fit_with_other_inputs_are_a_note_at_most(
    what: str, worker: Any, write: Callable[..., str]
) -> None:
    report: Report = worker.report(write(net("", *OPEN[what])) + ":Net")
    assert {problem.severity for problem in report.problems if problem.code == "FX401"} <= {"info"}


@pytest.mark.parametrize("what", TYPED)
def test_types_that_fit_in_a_model_of_another_type_are_no_error(
    what: str, worker: Any, write: Callable[..., str]
) -> None:
    report: Report = worker.report(write(net("", *TYPED[what])) + ":Net")
    assert [(problem.code, problem.severity) for problem in report.problems] == [("FX401", "info")]


def test_a_model_made_by_guessed_arguments_is_not_to_blame(worker: Any, write: Callable[..., str]) -> None:
    text = net(
        "width, kind",
        "assert kind == 'wide'\nself.first, self.second = nn.Linear(width, 20), nn.Linear(30, 5)",
        "x",
        "return self.second(self.first(x))",
    )
    answer = worker.answer(write(text) + ":Net")
    assert not [each for each in answer["report"]["problems"] if each["severity"] in ("error", "warning")]


def test_a_branch_that_a_guessed_argument_selects_is_not_to_blame(worker: Any, write: Callable[..., str]) -> None:
    text = net(
        "width, kind",
        "self.first = nn.Linear(16, width)\nself.body = nn.ReLU() if kind == 'plain' else Pair()",
        "x",
        "y = self.body(self.first(x))\nreturn y.relu() + 1",
    )
    answer = worker.answer(write(PAIR + text) + ":Net")
    problems = answer["report"]["problems"] if answer["type"] == "report" else [answer["failure"]]
    assert not [each for each in problems if each.get("severity") in ("error", "warning") or each["code"] == "FX903"]


PAIR = """
import torch
from torch import nn


class Pair(nn.Module):
    def forward(self, x):
        return x, x
"""


def test_inputs_with_which_a_model_ran_before_an_edit_show_what_the_edit_broke(
    worker: Any, write: Callable[..., str]
) -> None:
    before: Report = worker.report(write(LE_NET) + ":Net")
    assert not before.problems
    broken = LE_NET.replace("400", "425")
    assert [each.severity for each in worker.report(write(broken) + ":Net").problems] == ["info"]
    after = asked(worker, write(broken), {"init": before.recipe.init, "inputs": before.recipe.inputs})
    (problem,) = after.problems
    assert problem.code == "FX401"
    assert after.recipe == before.recipe
    # Another edge of the image might fit.
    assert problem.severity == "info"


def test_what_fits_with_no_input_stays_an_error_while_it_is_edited(worker: Any, write: Callable[..., str]) -> None:
    made, signature, body, _ = FAILING["a linear layer"]
    path = write(net("", made, signature, body))
    before: Report = worker.report(path + ":Net")
    after = asked(worker, path, {"init": before.recipe.init, "inputs": before.recipe.inputs})
    assert [problem.severity for problem in after.problems] == ["error"]


def test_inputs_of_before_an_edit_that_do_not_get_as_far_as_others_are_not_those_that_fail(
    worker: Any, write: Callable[..., str]
) -> None:
    guess = {"init": "Net()", "inputs": "torch.randn(2, 4, 7, 7)"}
    report = asked(worker, write(LE_NET.replace("400", "425")), guess)
    assert [each.severity for each in report.problems] == ["info"]
    assert report.recipe.inputs != guess["inputs"]


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("x):\n", "x, y):\n"),
        ("super().__init__()", "super().__init__()\n        raise ValueError"),
    ],
)
def test_inputs_of_before_an_edit_with_which_nothing_runs_any_more_are_forgotten(
    old: str, new: str, worker: Any, write: Callable[..., str]
) -> None:
    assert old in LE_NET
    guess = {"init": "Net()", "inputs": "torch.randn(5, 3, 7, 7)"}
    number = worker.ask(f"{write(LE_NET.replace(old, new))}:Net", guess=guess)
    answer = worker.next()
    assert answer["id"] == number
    assert "randn(5, 3" not in str(answer)


def test_inputs_of_before_an_edit_stay_while_the_model_takes_them(worker: Any, write: Callable[..., str]) -> None:
    guess = {"init": "Net()", "inputs": "torch.randn(5, 3, 7, 7)"}
    text = LE_NET.replace("return self.fc", "raise ValueError\n        return self.fc")
    report = Report.from_json(worker.answer(f"{write(text)}:Net", guess=guess)["report"])
    assert report.recipe.inputs == "torch.randn(5, 3, 7, 7)"


def stands_at(text: str, place: Location) -> str:
    return text.splitlines()[place.line - 1][place.column - 1 : place.end_column - 1]
