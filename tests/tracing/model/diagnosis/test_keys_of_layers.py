"""A name that no constructor gives a layer of a ``ModuleDict`` is the code's mistake, where both are written out."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.support.own_mistakes import fails_by_itself

NET = """
import torch
from torch import nn

class Net(nn.Module):
    def __init__(self, names=("a",), count=2, has_aux=False):
        super().__init__()
        {init}

    def forward(self, x, name="c"):
        {run}
"""
CERTAIN = {
    "a constant": ('self.heads = nn.ModuleDict({"a": nn.Linear(4, 4)})', 'return self.heads["cls"](x)'),
    "an entry that is assigned": (
        'self.heads = nn.ModuleDict()\nself.heads["a"] = nn.Linear(4, 4)',
        'return self.heads["b"](x)',
    ),
    "numbers": (
        'self.heads = nn.ModuleDict()\nfor i in range(count):\n    self.heads[f"p_{i}"] = nn.Linear(4, 4)',
        'return [self.heads[f"p{i}"](x) for i in range(2)]',
    ),
    "numbers of a comprehension": (
        'self.heads = nn.ModuleDict({f"p_{i}": nn.Linear(4, 4) for i in range(count)})',
        'for i in range(2):\n    x = self.heads[f"p{i}"](x)\nreturn x',
    ),
    "names of a loop": (
        'self.heads = nn.ModuleDict()\nfor key in ("a", "b"):\n    self.heads[key] = nn.Linear(4, 4)',
        'return self.heads["c"](x)',
    ),
    "names of a comprehension": (
        'self.heads = nn.ModuleDict({key: nn.Linear(4, 4) for key in ["a", "b"]})',
        'return self.heads["c"](x)',
    ),
    "an annotated attribute that is read in other ways": (
        'self.heads: nn.ModuleDict = nn.ModuleDict({"a": nn.Linear(4, 4)})',
        'y = [head(x) for head in self.heads.values()] if "a" in self.heads else x\nreturn self.heads["b"](y[0])',
    ),
    "the same name for another dict": (
        'self.heads = nn.ModuleDict({"a": nn.Linear(4, 4)})\nself.tails = nn.ModuleDict({"b": nn.Linear(4, 4)})',
        'x = self.tails["b"](x)\nreturn self.heads["b"](x)',
    ),
}
UNCERTAIN = {
    "names that are given": (
        "self.heads = nn.ModuleDict()\nfor key in names:\n    self.heads[key] = nn.Linear(4, 4)",
        'return self.heads["b"](x)',
    ),
    "some names that are given": (
        'self.heads = nn.ModuleDict({"a": nn.Linear(4, 4)})\nfor key in names:\n    self.heads[key] = nn.Linear(4, 4)',
        'return self.heads["b"](x)',
    ),
    "a part of a name that is given": (
        'self.heads = nn.ModuleDict()\nfor key in names:\n    self.heads[f"head_{key}"] = nn.Linear(4, 4)',
        'return self.heads["head_b"](x)',
    ),
    "too few numbers": (
        'self.heads = nn.ModuleDict()\nfor i in range(count):\n    self.heads[f"p{i}"] = nn.Linear(4, 4)',
        'return self.heads["p5"](x)',
    ),
    "a number of several": (
        'self.heads = nn.ModuleDict({"p3": nn.Linear(4, 4), "p4": nn.Linear(4, 4)})',
        'return [self.heads[f"p{i}"](x) for i in range(2)]',
    ),
    "a number alone": (
        'self.heads = nn.ModuleDict({"a": nn.Linear(4, 4)})',
        'return [self.heads[f"{i}"](x) for i in range(2)]',
    ),
    "a branch of the constructor": (
        'self.heads = nn.ModuleDict({"a": nn.Linear(4, 4)})\nif has_aux:\n    self.heads["aux"] = nn.Linear(4, 4)',
        'return self.heads["aux"](x)',
    ),
    "a name that is given to forward": (
        'self.heads = nn.ModuleDict({"a": nn.Linear(4, 4)})',
        "return self.heads[name](x)",
    ),
    "a text that is formatted": (
        'self.heads = nn.ModuleDict({"head_a": nn.Linear(4, 4)})',
        'return self.heads[f"head_{name}"](x)',
    ),
    "a method that adds": (
        'self.heads = nn.ModuleDict({"a": nn.Linear(4, 4)})',
        'return self.heads["b"](x)\n\ndef add(self, name):\n    self.heads[name] = nn.Linear(4, 4)',
    ),
    "a method that adds by a call": (
        'self.heads = nn.ModuleDict({"a": nn.Linear(4, 4)})',
        'return self.heads["b"](x)\n\ndef add(self, name):\n    self.heads.add_module(name, nn.Linear(4, 4))',
    ),
    "another name of the dict": (
        'heads = self.heads = nn.ModuleDict({"a": nn.Linear(4, 4)})\nif has_aux:\n    heads["b"] = nn.Linear(4, 4)',
        'return self.heads["b"](x)',
    ),
    "an empty one": ("self.heads = nn.ModuleDict()", 'return self.heads["b"](x)'),
    "layers of a function": (
        'make = lambda: {"a": nn.Linear(4, 4)}\nself.heads = nn.ModuleDict(make())',
        'return self.heads["b"](x)',
    ),
    "a dict of a class of the user's": (
        'class Heads(nn.ModuleDict):\n    pass\nself.heads = Heads({"a": nn.Linear(4, 4)})',
        'return self.heads["b"](x)',
    ),
}


def text_of(init: str, run: str) -> str:
    lines = NET.format(init=textwrap.indent(init, " " * 8).strip(), run=textwrap.indent(run, " " * 8).strip())
    return lines.replace("        def add", "    def add").replace(
        "            self.heads.add", "        self.heads.add"
    )


def is_certain(case: tuple[str, str], folder: Path) -> bool:
    return fails_by_itself(text_of(*case), KeyError, folder)


@pytest.mark.parametrize("name", CERTAIN)
def test_a_name_that_the_code_gives_no_layer_is_a_mistake(name: str, tmp_path: Path) -> None:
    assert is_certain(CERTAIN[name], tmp_path)


@pytest.mark.parametrize("name", UNCERTAIN)
def test_a_name_that_a_layer_may_have_another_time_is_none(name: str, tmp_path: Path) -> None:
    assert not is_certain(UNCERTAIN[name], tmp_path)


SOUND = (
    'self.heads = nn.ModuleDict()\nfor i in range(2):\n    self.heads[f"p_{i}"] = nn.Linear(4, 4)',
    'return self.heads["p_0"](x) + self.heads[f"p_{1}"](x)',
)


@pytest.mark.parametrize("name", ["a constant", "numbers", "names of a loop"])
def test_it_is_an_error_with_guessed_inputs(name: str, worker: Any, write: Callable[..., str]) -> None:
    (problem,) = (each for each in worker.report(write(text_of(*CERTAIN[name])) + ":Net").problems if each.code < "FX5")
    assert (problem.code, problem.severity) == ("FX403", "error")


def test_a_layer_that_has_the_name_is_none(worker: Any, write: Callable[..., str]) -> None:
    assert not [each for each in worker.report(write(text_of(*SOUND)) + ":Net").problems if each.severity == "error"]
