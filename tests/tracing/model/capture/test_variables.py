"""Local variables of a ``forward`` at the time when each node was made."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from fxlsp.report.report import Report

MODEL = """
import torch
from torch import nn

class Part(nn.Module):
    def forward(self, a):
        b = a * 2
        return b + a

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()

    def forward(self, x):
        {body}
"""


def traced(worker: Any, write: Callable[..., str], *lines: str) -> Report:
    report: Report = worker.report(
        f"{write(MODEL.format(body=(chr(10) + ' ' * 8).join(lines)))}:Net", "Net()", "torch.randn(2, 4)"
    )
    return report


def variables(report: Report) -> dict[str, dict[str, str]]:
    return {node.name: dict(node.variables) for node in report.nodes}


def test_each_node_knows_what_the_variables_around_it_held(worker: Any, write: Callable[..., str]) -> None:
    report = traced(worker, write, "y = torch.relu(x)", "n = 3", "x = y + n", "return x - y")
    held = variables(report)
    assert held["relu"] == {"x": "x"}
    assert held["add"] == {"x": "x", "y": "relu"}
    assert held["sub"] == {"x": "add", "y": "relu"}


def test_the_variables_are_those_of_the_function_that_holds_the_expression(
    worker: Any, write: Callable[..., str]
) -> None:
    report = traced(worker, write, "y = torch.relu(x)", "return self.part(y)")
    assert variables(report)["add"] == {"a": "relu", "b": "mul"}
    call = next(call for call in report.calls if call.module_path == "part")
    assert call.variables == {"x": "x", "y": "relu"}


def test_a_variable_that_was_changed_in_place_holds_what_changed_it(worker: Any, write: Callable[..., str]) -> None:
    report = traced(worker, write, "y = x * 2", "y.unsqueeze_(1)", "return y + 1")
    assert variables(report)["add"] == {"x": "x", "y": "unsqueeze_"}


def test_variables_behind_a_failure_are_known_too(worker: Any, write: Callable[..., str]) -> None:
    report = traced(worker, write, "if x.sum() > 0:", "    x = x + 1", "y = x * 2", "return y - x")
    assert not report.verdict.traceable
    names = {name for node in report.nodes if node.target.endswith("sub") for name in node.variables}
    assert names == {"x", "y"}


def test_to_look_at_the_variables_makes_no_node(worker: Any, write: Callable[..., str]) -> None:
    report = traced(worker, write, "s = x.shape", "y = x * 2", "return y.view(s[0], 4)")
    assert [node.name for node in report.nodes] == ["x", "mul", "getattr_1", "getitem", "view", "output"]
    assert variables(report)["view"] == {"x": "x", "y": "mul"}
