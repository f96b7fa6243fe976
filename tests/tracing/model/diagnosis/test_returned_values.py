"""A tuple, a list or None that a function of the model's code returned is named where it is used as a tensor."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from fxlsp.report.problems import Problem
from tests.support.worker import Worker

HEAD = """
import torch
from torch import nn


def pair(x):
    return x, x * 2


def scale(x):
    x = x * 2


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        return self.fc(x), x.mean(1)


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(8, 8)

    def forward(self, x):
        x = self.fc(x)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc, self.encoder, self.block = nn.Linear(8, 8), Encoder(), Block()
        self.blocks = nn.ModuleList([Block(), Block()])

    def both(self, x, twice=True):
        y = self.fc(x)
        return y, y.relu()

    def parts(self, x):
        return [self.fc(x), x]

    def some(self, x, twice=True):
        if twice:
            return x, x
        return x

    def nothing(self, x):
        y = self.fc(x)

    def rarely(self, x, flag=False):
        if flag:
            return x

    def abstract(self, x):
        \"\"\"Encode it.\"\"\"

    def forward(self, x):
"""
TUPLES = {
    "a method": ("a = self.both(x)\na + 1", "`a` is the tuple that `self.both` returns, line {made}"),
    "a function": ("a = pair(self.fc(x))\ntorch.relu(a)", "`a` is the tuple that `pair` returns, line {made}"),
    "a module": ("h = self.encoder(x)\nself.fc(h)", "`h` is the tuple that `self.encoder` returns, line {made}"),
    "a method of it": ("a = pair(self.fc(x))\na.mean()", "`a` is the tuple that `pair` returns, line {made}"),
    "an item of it": ("a = pair(self.fc(x))\na[:, 0]", "`a` is the tuple that `pair` returns, line {made}"),
    "in a list": ("a = self.both(x)\ntorch.cat([a, x])", "`a` is the tuple that `self.both` returns, line {made}"),
    "a list": ("a = self.parts(x)\na * x", "`a` is the list that `self.parts` returns, line {made}"),
    "without a variable": ("y = x * 2\nself.fc(self.both(y))", "an operand is the tuple that `self.both` returns"),
    "in one branch": ("a = self.some(self.fc(x))\na + 1", "`a` is the tuple that `self.some` returns, line {made}"),
}
NOTHING = {
    "a method": ("h = self.nothing(x)\nh + 1", "`h` is None: `self.nothing`, line {nothing}, returns nothing"),
    "a function": ("h = scale(self.fc(x))\ntorch.relu(h)", "`h` is None: `scale`, line {scale}, returns nothing"),
    "a module": ("h = self.block(x)\nself.fc(h)", "`h` is None: `self.block`, line {forward}, returns nothing"),
    "without a variable": ("y = x\nself.nothing(y).mean()", "an operand is None: `self.nothing`, line {nothing}"),
    "unpacked": ("y = x\nmu, _ = self.nothing(y)", "an operand is None: `self.nothing`, line {nothing}"),
    "iterated": ("y = x\nfor y in self.nothing(x):\n    pass", "an operand is None: `self.nothing`, line {nothing}"),
    "joined": ("h = self.nothing(x)\ntorch.cat([x, h])", "`h` is None: `self.nothing`, line {nothing}"),
    "in one branch": ("h = self.rarely(self.fc(x))\nh + 1", "`h` is None: `self.rarely`, line {rarely}, can end"),
    "in a loop": (
        "for block in self.blocks:\n    x = block(x)\nx",
        "`x` is None: `block`, line {forward}, returns nothing: is a `return` missing?",
    ),
}


def text_of(body: str) -> str:
    lines = "".join(f"        {line}\n" for line in body.split("\n"))
    *before, last = lines.rstrip("\n").rsplit("\n", 1)
    returned = last if last.startswith(("            ", "        mu")) else f"        return {last.strip()}"
    return HEAD + "\n".join([*before, returned]) + "\n"


def line_of(text: str, part: str, after: str = "") -> int:
    return text.count("\n", 0, text.index(part, text.index(after))) + 1


def failure(worker: Worker, path: str, *recipe: str) -> Problem:
    problems = worker.report(f"{path}:Net", *recipe).problems
    return next(each for each in problems if each.code in ("FX401", "FX403"))


def expected(text: str, headline: str, body: str) -> str:
    return headline.format(
        made=line_of(text, body.partition("\n")[0], "def forward(self, x):\n        " + body[:4]),
        **{name: line_of(text, f"def {name}") for name in ("nothing", "scale", "rarely")},
        forward=line_of(text, "def forward", "class Block"),
    )


@pytest.mark.parametrize("name", TUPLES)
@pytest.mark.parametrize("recipe", [("Net()", "torch.ones(2, 8)"), ()], ids=["stated", "guessed"])
def test_a_tuple_that_a_function_of_the_model_returns_is_named(
    name: str, recipe: tuple[str, ...], worker: Worker, write: Callable[..., str]
) -> None:
    body, headline = TUPLES[name]
    text = text_of(body)
    found = failure(worker, write(text), *recipe)
    assert found.severity == "error"
    assert found.message.startswith(expected(text, headline, body)), found.message
    assert "unpack it, or take the item that is meant\n" in found.message


@pytest.mark.parametrize("name", NOTHING)
@pytest.mark.parametrize("recipe", [("Net()", "torch.ones(2, 8)"), ()], ids=["stated", "guessed"])
def test_a_function_of_the_model_that_returns_nothing_is_named(
    name: str, recipe: tuple[str, ...], worker: Worker, write: Callable[..., str]
) -> None:
    if name == "in a loop" and sys.version_info < (3, 11):
        pytest.skip("what a call passes is found by its columns")
    body, headline = NOTHING[name]
    text = text_of(body)
    found = failure(worker, write(text), *recipe)
    assert found.severity == "error"
    assert found.message.startswith(expected(text, headline, body)), found.message
    assert any("is defined here" in each.message for each in found.related)


def test_a_method_without_a_body_is_not_blamed_for_a_return(worker: Worker, write: Callable[..., str]) -> None:
    text = text_of("h = self.abstract(x)\nh + 1")
    found = failure(worker, write(text), "Net()", "torch.ones(2, 8)")
    line = line_of(text, "def abstract")
    assert found.message.startswith(f"`h` is None: `self.abstract`, line {line}, has no body\n"), found.message


@pytest.mark.parametrize(
    "body",
    [
        "a = pair(x)\nif x.dim() == 2:\n    a = x.dim()\nreturn x + 'text'",
        "a = pair(x)\na = 'text'\nreturn x + a",
        "a = self.some(x, False)\nreturn torch.cat([a, 'text'])",
        "a, b = pair(x)\nreturn a + None",
        "return torch.cat(pair(x), 'text')",
        "return nn.functional.linear(self.both(x)[0], ('text',))",
    ],
)
def test_a_function_whose_value_is_not_what_is_wrong_is_not_named(
    body: str, worker: Worker, write: Callable[..., str]
) -> None:
    text = HEAD + "".join(f"        {line}\n" for line in body.split("\n"))
    assert "returns" not in failure(worker, write(text), "Net()", "torch.ones(2, 8)").message


IN_A_CONTAINER = """
import torch
from torch import nn


class Stem(nn.Module):
    def forward(self, x, features=False):
        if features:
            return x, x
        return x


class Gate(nn.Module):
    def forward(self, x):
        return x, x.sigmoid()


class Scale(nn.Module):
    def forward(self, x):
        return x + 1


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem, self.body = Stem(), nn.Sequential(Gate(), Scale())

    def forward(self, x):
        x = self.stem(x)
        return self.body(x)
"""


def test_what_a_container_passes_on_is_not_what_it_was_given(worker: Worker, write: Callable[..., str]) -> None:
    found = failure(worker, write(IN_A_CONTAINER), "Net()", "torch.ones(2, 8)")
    assert "self.stem" not in found.message, found.message
