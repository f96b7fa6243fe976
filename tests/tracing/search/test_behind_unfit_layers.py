"""What fails behind a linear layer that fits no guessed input: sizes and types of the code are errors, others notes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.tracing.search.frames import net

FLAT = "self.conv = nn.Conv2d(3, 8, 3)\nself.fc = nn.Linear(100, 10)\n"
UNFIT = "x = torch.flatten(self.conv(x).relu(), 1)\n"


@pytest.mark.parametrize(
    ("made", "run", "line"),
    [
        pytest.param("", "return self.fc(self.fc(x))", "return self.fc(self.fc(x))", id="twice in one line"),
        pytest.param("", "x = self.fc(x)\nreturn self.fc(x)", "return self.fc(x)", id="twice in two lines"),
        pytest.param(
            "self.out = nn.Linear(20, 3)",
            "x = F.dropout(self.fc(x).relu(), 0.1)\nreturn self.out(x)",
            "return self.out(x)",
            id="the next layer",
        ),
        pytest.param(
            "self.norm = nn.LayerNorm(12)", "x = self.fc(x)\nreturn self.norm(x)", "return self.norm(x)", id="a norm"
        ),
        pytest.param(
            "self.out = nn.Linear(20, 3)",
            "x = x.view(x.size(0), -1)\nx = self.fc(x)\nx = self.fc.bias + x\nreturn self.out(x)",
            "return self.out(x)",
            id="behind a sum",
        ),
        pytest.param(
            "self.layers = nn.ModuleList([nn.Linear(10, 20), nn.Linear(30, 4)])",
            "x = self.fc(x)\nfor layer in self.layers:\n    x = layer(x)\nreturn x",
            "x = layer(x)",
            id="a list of layers",
        ),
        pytest.param(
            "self.rnn = nn.LSTM(10, 10)",
            "x = self.rnn(self.fc(x))\nreturn x.relu()",
            "return x.relu()",
            id="the tuple of a layer",
        ),
    ],
)
def test_a_mistake_behind_a_layer_that_fits_nothing_is_an_error(
    made: str, run: str, line: str, worker: Any, write: Callable[..., str]
) -> None:
    text = net("", FLAT + made, "x", UNFIT + run)
    problems = [each for each in worker.report(write(text) + ":Net").problems if each.code == "FX401"]
    errors = [each for each in problems if each.severity == "error"]
    assert [text.splitlines()[each.location.line - 1].strip() for each in errors] == [line]
    assert "30752" not in errors[0].message
    assert [each.severity for each in problems if "got 30752" in each.message] == ["info"]


@pytest.mark.parametrize(
    ("made", "run"),
    [
        pytest.param("", "return self.fc(x)", id="nothing behind it"),
        pytest.param("self.out = nn.Linear(10, 3)", "return self.out(self.fc(x))", id="layers that fit"),
        pytest.param("", "y = self.fc(x)\nreturn y + x", id="a sum with the input"),
        pytest.param("", "y = self.fc(x)\nreturn y.view(-1, 3)", id="a view that a batch of three fits"),
        pytest.param("", "y = self.fc(x)\nreturn x if y.shape[0] > 1 else self.fc(y)", id="a batch that decides"),
        pytest.param("", "y = self.fc(x)\nreturn y if x.shape[1] == 100 else self.fc(y)", id="the size decides"),
        pytest.param(
            "", "y = self.fc(x)\nwhile y.shape[-1] != 10:\n    y = self.fc(y)\nreturn y", id="as often as it is needed"
        ),
        pytest.param(
            "",
            "y = self.fc(x)\nfor _ in range(x.shape[1] - 100):\n    y = self.fc(y)\nreturn y",
            id="a loop of no step",
        ),
        pytest.param(
            "self.out = nn.Linear(5, 3)", "a, b = self.fc(x).chunk(2, 1)\nreturn self.out(a) * b[:, :3]", id="a half"
        ),
    ],
)
def test_what_may_run_is_no_error(made: str, run: str, worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(net("", FLAT + made, "x", UNFIT + run)) + ":Net")
    assert [each.message for each in report.problems if each.code == "FX401" and each.severity == "error"] == []


@pytest.mark.parametrize("run", [f"{UNFIT}return self.fc(x) + self.shadow(x)", "return self.conv(x) + self.shadow(x)"])
def test_an_attribute_that_another_method_sets_is_no_error(run: str, worker: Any, write: Callable[..., str]) -> None:
    text = net("", f"{FLAT}self.shadow = None", "x", run)
    text += "\n    def start(self):\n        self.shadow = nn.Linear(100, 10)\n"
    report = worker.report(write(text) + ":Net")
    assert [each.message for each in report.problems if each.code == "FX401" and each.severity == "error"] == []
