"""A method of a computed tensor that is called as no tensor takes it is the code's mistake."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.own_mistakes import fails_by_itself

NET = """
import torch
import torch.nn.functional as F
from torch import nn

def first(x):
    return x

def norm_of(v):
    return v.norm(dim=-1, keepdims=True)

class Frozen(nn.Module):
    def forward(self, x):
        return x

class Part(nn.Module):
    def forward(self, u):
        return u.norm(dim=-1, keepdims=True)

class Net(nn.Module):
    def __init__(self, size=2, dims=(1,), options=None):
        super().__init__()
        self.size, self.dims, self.options = size, dims, options or {{"axes": 1}}
        self.fc, self.frozen, self.part, self.same = nn.Linear(4, 4), Frozen(), Part(), nn.Identity()
        self.scale = nn.Parameter(torch.zeros(4))

    def tokens(self, y):
        return y.unfold(-1, self.size)

    def forward(self, x):
        {run}
"""
CERTAIN = {
    "a result of a layer": "h = self.fc(x)\nreturn h.unfold(-1, self.size)",
    "a layer in its place": "return self.fc(x).unfold(-1, self.size)",
    "a result of a function": "return F.relu(x).norm(dim=-1, keepdims=True)",
    "a method written in Python": "h = torch.relu(x)\nreturn h.split()",
    "too many for a method written in Python": "h = torch.relu(x)\nreturn h.split(self.size, 1, 2)",
    "a keyword that the parser refuses": "h = self.fc(x)\nreturn h.chunk(2, dims=1)",
    "all arguments are written out": "h = self.fc(x)\nreturn h.transpose(0, 2, 1)",
    "a keyword of another method": "h = self.fc(x)\nreturn h.mean(dim=1, keepdimension=True)",
    "a method without arguments": "h = self.fc(x)\nreturn h.relu(inplace=True)",
    "arithmetic": "return (self.fc(x) * 2 + x).unfold(-1, 2)",
    "a parameter": "return x * self.scale.unfold(0, 2)",
    "a method that only tensors have": "h = x.unsqueeze(0).float()\nreturn h.unfold(-1, 2)",
    "two axes": "h = x.transpose(0, 1).reshape(-1, 4)\nreturn self.tokens(h)",
    "a function that is passed it": "return norm_of(self.fc(x))",
    "a function that is passed it by its name": "h = self.fc(x)\nreturn norm_of(v=h)",
    "a layer that is passed it": "return self.part(self.fc(x))",
    "one of several results": "a, b = self.fc(x).chunk(2, dim=1)\nreturn b.unfold(-1, 2)",
    "an input that is assigned again": "x = self.fc(x)\nx = x * 2\nx += 1\nreturn x.unfold(-1, 2)",
    "each branch": "if self.size:\n    h = self.fc(x)\nelse:\n    h = torch.relu(x)\nreturn h.unfold(-1, 2)",
    "a loop": "h = self.fc(x)\nfor _ in range(2):\n    h = h + x\nreturn h.unfold(-1, 2)",
}
UNCERTAIN = {
    "an input": "return x.unfold(-1, self.size)",
    "an input of another name": "h = x\nreturn h.norm(dim=-1, keepdims=True)",
    "an input that a function passes on": "return norm_of(first(x))",
    "an input that a function returns": "return first(x).unfold(-1, 2)",
    "an input that a method takes": "return self.tokens(x)",
    "an input that a layer takes": "return self.part(x)",
    "an input that a layer of the user's returns": "h = self.frozen(x)\nreturn h.unfold(-1, 2)",
    "an input that a layer of torch returns": "h = self.same(x)\nreturn h.unfold(-1, 2)",
    "a part of an input": "h = x[0]\nreturn h.unfold(-1, 2)",
    "an input in a branch": "h = self.fc(x)\nif self.size:\n    h = x\nreturn h.unfold(-1, 2)",
    "an input that a branch replaces": "if not self.size:\n    x = self.fc(x)\nreturn x.unfold(-1, 2)",
    "an input in a loop": "h = x\nfor _ in range(1):\n    h.unfold(-1, 2)\n    h = self.fc(x)\nreturn h",
    "an array, as far as is known": "h = (x / 255).float()\nreturn h.transpose(0, 2, 1)",
    "a product of an input": "h = x * x\nreturn h.unfold(-1, 2)",
    "keywords that are given": "h = self.fc(x)\nreturn h.chunk(2, **self.options)",
    "arguments that are given": "h = self.fc(x)\nreturn h.unfold(*self.dims)",
    "a value that may be another": "h = self.fc(x)\nreturn h.add(x, x)",
    "an object that an attribute holds": "self.held = x\nreturn self.held.unfold(-1, 2)",
    "a method of that name in the file": "def unfold(y):\n    return y\nh = self.fc(x)\nreturn h.unfold(-1, 2)",
    "two calls in a line": "h = self.fc(x)\nreturn (x.unfold(-1, 2), h.unfold(-1, 2))",
    "a method that fails by a value": "h = self.fc(x)\nreturn h.view(self.options)",
}
SOUND = {
    "all arguments": "h = self.fc(x)\nreturn h.unfold(-1, 2, self.size).norm(dim=-1, keepdim=True)",
    "keywords that arrays have": "h = self.fc(x)\nreturn h.mean(axis=1, keepdims=True)",
    "an error that is caught": (
        "h = self.fc(x)\ntry:\n    return h.norm(dim=-1, keepdims=True)\n"
        "except TypeError:\n    return h.norm(dim=-1, keepdim=True)"
    ),
}


def text_of(run: str) -> str:
    return NET.format(run=textwrap.indent(run, " " * 8).strip())


def is_certain(run: str, folder: Path) -> bool:
    return fails_by_itself(text_of(run), TypeError, folder)


@pytest.mark.parametrize("name", CERTAIN)
def test_a_call_that_no_tensor_takes_is_a_mistake(name: str, tmp_path: Path) -> None:
    assert is_certain(CERTAIN[name], tmp_path)


@pytest.mark.parametrize("name", UNCERTAIN)
def test_a_call_of_what_may_be_something_else_is_none(name: str, tmp_path: Path) -> None:
    assert not is_certain(UNCERTAIN[name], tmp_path)


@pytest.mark.parametrize("name", ["a result of a layer", "two axes", "a function that is passed it"])
def test_it_is_an_error_with_guessed_inputs(name: str, worker: Any, write: Callable[..., str]) -> None:
    failing = [each for each in worker.report(write(text_of(CERTAIN[name])) + ":Net").problems if each.code < "FX5"]
    assert [(each.code, each.severity) for each in failing] == [("FX401", "error")]


@pytest.mark.parametrize("name", SOUND)
def test_a_call_that_a_tensor_takes_is_none(name: str, worker: Any, write: Callable[..., str]) -> None:
    report = worker.report(write(text_of(SOUND[name])) + ":Net")
    assert not [each for each in report.problems if each.severity == "error"]
