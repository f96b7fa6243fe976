"""``fxlsp trace --frontends``, with the torch that runs the tests."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from fxlsp.report.codes import CONTROL_FLOW
from fxlsp.report.frontend_codes import BREAK_AT_VALUE, EXPORT_BRANCH, EXPORT_DIED
from fxlsp.report.report import Report
from tests.cli.conftest import Fxlsp

TEXT = """\
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(8, 4)

    def forward(self, x):
        return torch.relu(self.a(x))


class Branching(Net):
    def forward(self, x):
        return x + 1 if x.sum() > 0 else x


class Dying(Net):
    def forward(self, x):
        if torch.compiler.is_compiling():
            __import__("os")._exit(3)
        return x
"""
RECIPE = ("--inputs", "torch.randn(2, 8)", "--python", sys.executable)


@pytest.fixture
def models(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(TEXT)


@pytest.mark.usefixtures("models")
def test_each_front_end_has_a_line_below_the_summary(fxlsp: Fxlsp) -> None:
    ran = fxlsp("trace", "model.py:Net", "--frontends", "compile,export,fx", *RECIPE)
    assert (ran.code, ran.err) == (0, "")
    *_, summary, empty, fx, export, compiled = ran.out.splitlines()
    assert "traceable" in summary
    assert empty == ""
    assert (fx, export) == ("fx: traceable", "export: exports with a dynamic batch")
    assert compiled == "compile: compiles as one graph"


@pytest.mark.usefixtures("models")
def test_problems_are_below_their_front_end_and_no_problems_of_the_report(fxlsp: Fxlsp) -> None:
    with_them = fxlsp("trace", "model.py:Branching", "--frontends", "fx,export,compile", *RECIPE)
    without = fxlsp("trace", "model.py:Branching", *RECIPE)
    assert with_them.code == without.code == 1
    added = [line for line in with_them.out.splitlines() if line not in without.out.splitlines()]
    heads = [line for line in added if not line.startswith(" ")]
    assert heads == ["fx: 1 problem", "export: 1 problem", "compile: 1 graph break"]
    assert [line.strip().split(":")[:2] for line in added if line.startswith(" ")] == [["model.py", "16"]] * 3
    assert [line.split()[1] for line in added if line.startswith(" ")] == [CONTROL_FLOW, EXPORT_BRANCH, BREAK_AT_VALUE]


@pytest.mark.usefixtures("models")
def test_json_has_the_verdicts_only_if_they_are_asked_for(fxlsp: Fxlsp) -> None:
    ran = fxlsp("trace", "model.py:Branching", "--format", "json", "--frontends", "export", *RECIPE)
    plain = fxlsp("trace", "model.py:Branching", "--format", "json", *RECIPE).json
    report = ran.json
    (export,) = report.pop("frontends")
    assert (export["frontend"], export["verdict"], len(export["problems"])) == ("export", "problem", 1)
    assert export["problems"][0]["location"]["line"] == 16
    assert export["problems"][0]["code"] == EXPORT_BRANCH
    assert list(report) == list(plain)
    assert report["problems"] == plain["problems"]
    assert Report.from_json(ran.json).frontends[0].problems[0].headline == export["problems"][0]["headline"]


@pytest.mark.usefixtures("models")
def test_a_front_end_that_dies_says_so_and_the_graph_stays(fxlsp: Fxlsp) -> None:
    ran = fxlsp("trace", "model.py:Dying", "--format", "json", "--frontends", "export", *RECIPE)
    assert ran.code == 0
    assert ran.json["verdict"]["traceable"]
    (export,) = ran.json["frontends"]
    assert (export["verdict"], export["summary"]) == ("crashed", "crashed")
    (problem,) = export["problems"]
    assert problem["headline"].startswith("The process that exported Dying ended itself with exit code 3")
    assert problem["location"]["line"] == 22
    assert problem["code"] == EXPORT_DIED


@pytest.mark.usefixtures("models")
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("model.py:Net", "--frontends", "fx,onnx"), "'onnx' is not one of fx, export, compile"),
        (("--batch", "lines", "--frontends", "fx"), "--frontends takes one TARGET, not --batch"),
        (("model.py:Net", "--frontends", "fx", "--format", "paths"), "in the formats table and json alone"),
    ],
)
def test_front_ends_that_cannot_be_shown_are_bad_usage(fxlsp: Fxlsp, options: tuple[str, ...], words: str) -> None:
    ran = fxlsp("trace", *options)
    assert (ran.code, ran.out) == (2, "")
    assert words in ran.err
