"""Parameters and buffers among the inputs of a call site stay what they are."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch

from tests.tracing.search.frames import HEAD

NET = (
    HEAD
    + """
from collections import namedtuple
from dataclasses import dataclass

@dataclass
class Batch:
    x: torch.Tensor
    scale: torch.Tensor

class Item:
    def __init__(self, scale):
        self.scale = scale

Pair = namedtuple("Pair", "first second")
other = nn.Linear(8, 8)

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.scale = nn.Parameter(torch.ones(1))
        self.fc = nn.Linear(300, 300)
        self.register_buffer("kept", torch.ones(1))

    def set_scale(self, scale):
        self.scale = scale

    def forward(self, x, given):
        {body}
"""
)
X = "torch.rand(2, 8)"
ONE = "nn.Parameter(torch.ones(1))"
SOUND = {
    "by itself": ("self.scale = given\n        return x * self.scale", f"{X}, {ONE}"),
    "of another layer": ("self.scale = given\n        return x @ self.scale", f"{X}, other.weight"),
    "large": (
        "self.fc.weight = given\n        return self.fc(x)",
        "torch.rand(2, 300), nn.Parameter(torch.ones(300, 300))",
    ),
    "in a list": ("self.scale = given[0]\n        return x * self.scale", f"{X}, [{ONE}]"),
    "in a dict": ("self.scale = given['a']\n        return x * self.scale", f"{X}, {{'a': {ONE}}}"),
    "in a named tuple": ("self.scale = given.second\n        return x * self.scale", f"{X}, Pair(1, {ONE})"),
    "in a dataclass": ("self.scale = given.scale\n        return x * self.scale", f"{X}, Batch({X}, {ONE})"),
    "in an object": ("self.scale = given.scale\n        return x * self.scale", f"{X}, Item({ONE})"),
    "by setattr": ("setattr(self, 'scale', given)\n        return x * self.scale", f"{X}, {ONE}"),
    "by a method": ("self.set_scale(given)\n        return x * self.scale", f"{X}, {ONE}"),
    "whose kind is asked": (
        "assert isinstance(given, nn.Parameter) and not given.requires_grad\n        return F.linear(x, given)",
        f"{X}, nn.Parameter(torch.ones(4, 8), requires_grad=False)",
    ),
}
WRONG = {
    "a tensor": ("self.scale = given\n        return x * self.scale", f"{X}, torch.ones(1)"),
    "a tensor that needs a gradient": (
        "self.scale = given\n        return x * self.scale",
        f"{X}, torch.ones(1, requires_grad=True)",
    ),
    "computed of a parameter": ("self.scale = given * 2\n        return x * self.scale", f"{X}, {ONE}"),
    "a tensor in a list": ("self.scale = given[0]\n        return x * self.scale", f"{X}, [torch.ones(1)]"),
    "a tensor in a dataclass": ("self.scale = given.scale\n        return x", f"{X}, Batch({X}, torch.ones(1))"),
}


def _problems(body: str, inputs: str, worker: Any, write: Callable[..., str]) -> list[tuple[str, str]]:
    path = write(NET.replace("{body}", body))
    report = worker.report(f"{path}:Net", "Net()", inputs, source="call-site")
    return [(problem.code, problem.severity) for problem in report.problems]


@pytest.mark.parametrize("name", SOUND)
def test_a_parameter_among_the_inputs_stays_a_parameter(name: str, worker: Any, write: Callable[..., str]) -> None:
    found = _problems(*SOUND[name], worker, write)
    # torch.fx itself refuses what its proxies are not.
    assert {code for code, severity in found if severity != "info"} <= {"FX199"}, found


@pytest.mark.parametrize("name", WRONG)
def test_a_tensor_that_is_assigned_to_a_parameter_is_an_error(
    name: str, worker: Any, write: Callable[..., str]
) -> None:
    found = _problems(*WRONG[name], worker, write)
    assert any(severity == "error" and code in ("FX401", "FX403") for code, severity in found), found


@pytest.mark.parametrize("body", ["self.kept = given", "self.new = given", "x = x + given\n        self.new = given"])
def test_a_buffer_among_the_inputs_stays_a_buffer(body: str, worker: Any, write: Callable[..., str]) -> None:
    if not hasattr(torch.nn, "Buffer"):
        pytest.skip("this torch has no nn.Buffer")
    asked = "\n        assert isinstance(given, nn.Buffer)\n        return x * given"
    found = _problems(body + asked, f"{X}, nn.Buffer(torch.ones(1))", worker, write)
    assert not any(severity == "error" for _, severity in found), found


def test_a_parameter_that_the_caller_passes_is_not_called_new(worker: Any, write: Callable[..., str]) -> None:
    again = "self.scale = nn.Parameter(given.data)\n        return x * self.scale"
    assert ("FX609", "warning") in _problems(again, f"{X}, {ONE}", worker, write)
