"""Right models that were accused because of what they were given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.report import Report
from tests.tracing.search.frames import HEAD, fed, net

_DICT = (
    "",
    "self.fc = nn.Linear(24, 24)",
    "data: dict",
    "for key in ('left', 'right'):\n    assert key in data, key\nreturn self.fc(data['left']['points'])",
)
_PARENT = (
    HEAD
    + """
class Sizes:
    def __init__(self, width, kind):
        self.width, self.kind = width, kind

class Plain(nn.Module):
    def __init__(self, sizes):
        super().__init__()
        if hash(str(sizes.kind)) * 2 != 3:
            raise ValueError("another kind")
        self.a = nn.Linear(sizes.width, 4)

    def forward(self, x):
        return self.a(x)

class Net(Plain):
    def __init__(self, rank=4, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self.rank = rank
"""
)
_PAIR = ("", "self.fc = nn.Bilinear(4, 5, 6)")
_LIMIT = "\nif out.shape[0] != 977:\n    raise ValueError('a batch of 977')\nreturn out"
TEXTS = {
    "positional arguments that a caller passes": net(*_PAIR, "*args", f"out = self.fc(*args){_LIMIT}"),
    "named arguments that a caller passes": net(*_PAIR, "**kwargs", f"out = self.fc(**kwargs){_LIMIT}"),
    "further arguments that a caller passes": net(*_PAIR, "x, **kwargs", f"out = self.fc(x, **kwargs){_LIMIT}"),
    "arguments that a caller passes through a helper": net(
        *_PAIR, "*args", f"def run(*each):\n    return self.fc(*each)\nout = run(*args){_LIMIT}"
    ),
    "keys that an input is asked for": net(*_DICT),
    "inputs that all default to None": net(
        "", "self.e = nn.Embedding(100, 24)", "ids=None, mask=None", "n, t = ids.shape\nreturn self.e(ids)"
    ),
    "inputs that all default to None, handed on": net(
        "",
        "self.e = nn.Linear(24, 24)",
        "x=None, **rest",
        "def run(x):\n    return self.e(x) + x.mean()\nreturn run(x)",
    ),
    "mels that are normalised, as many as the channels": net(
        "n_mels=64, channels=64",
        "self.conv = nn.Conv2d(1, channels, 3, padding=1)\nself.norm = nn.LayerNorm(n_mels)",
        "x",
        "return self.norm(self.conv(x))",
    ),
    "maps that are normalised behind channels of another layer": net(
        "dim=48, size=32",
        "self.conv = nn.Conv2d(3, dim, 3, padding=1)\nself.norm = nn.LayerNorm([dim, size, size])",
        "x",
        "return self.norm(self.conv(x))",
    ),
    "one of two inputs that default to None": fed("x=None, y=None", "return y.relu() if x is None else x.relu()"),
}


@pytest.mark.parametrize("what", TEXTS)
def test_a_right_model_is_not_accused(what: str, worker: Any, write: Callable[..., str]) -> None:
    answer = worker.answer(write(TEXTS[what]) + ":Net")
    problems = answer["report"]["problems"]
    assert not [each for each in problems if each["severity"] == "error"]


@pytest.mark.parametrize("forward", [("x, *args", "self.fc(x)"), ("*args", "self.fc(args[0])")])
def test_an_argument_that_no_caller_can_pass_on_is_missing(
    forward: tuple[str, str], worker: Any, write: Callable[..., str]
) -> None:
    inputs, called = forward
    report: Report = worker.report(write(net(*_PAIR, inputs, f"return {called}")) + ":Net")
    assert ("error", "FX403") in {(each.severity, each.code) for each in report.problems}


def test_a_call_site_that_passes_too_little_is_an_error(worker: Any, write: Callable[..., str]) -> None:
    path = write(net(*_PAIR, "*args", "return self.fc(*args)"))
    report: Report = worker.report(f"{path}:Net", "Net()", "torch.randn(2, 4)")
    assert "error" in {each.severity for each in report.problems}


def test_optional_inputs_are_passed_if_the_model_needs_one(worker: Any, write: Callable[..., str]) -> None:
    report: Report = worker.report(write(TEXTS["inputs that all default to None"]) + ":Net")
    assert report.recipe.inputs is not None
    assert "ids=torch.ones(" in report.recipe.inputs


def test_a_model_that_runs_without_its_optional_inputs_is_given_none(worker: Any, write: Callable[..., str]) -> None:
    text = net("", "self.a = nn.Parameter(torch.ones(4))", "x=None", "return self.a if x is None else self.a * x")
    report: Report = worker.report(write(text) + ":Net")
    assert (report.recipe.inputs, report.recipe.source) == ("", "default")


def test_what_fails_without_and_with_optional_inputs_is_an_error(worker: Any, write: Callable[..., str]) -> None:
    text = net("", "self.a = nn.Linear(4, 4)", "x=None", "y = self.b\nreturn self.a(y)")
    report: Report = worker.report(write(text) + ":Net")
    assert "error" in {each.severity for each in report.problems}


def test_a_subclass_that_hands_arguments_to_its_parent_needs_them(worker: Any, write: Callable[..., str]) -> None:
    answer = worker.answer(write(_PARENT) + ":Net")
    assert answer["type"] == "failure"
    assert answer["failure"]["failure"]["needs"] == "argument sizes of Net"
