"""A constructor without super().__init__(), or with a late one, is reported as that."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from fxlsp.report.problems import Failure
from tests.tracing.passes.checks.classics.conftest import Mistakes

NET = """
class Net(nn.Module):
    def __init__(self):
        {init}

    def forward(self, x):
        return x
"""


def net(init: str) -> str:
    return NET.format(init=init.replace("\n", "\n        "))


MISSING = {
    "before a layer": net("⟦self.a⟧ = nn.Linear(4, 4)"),
    "before a parameter": net("self.size = 4\n⟦self.a⟧ = nn.Parameter(torch.ones(4))"),
    "before a buffer": net("⟦self.register_buffer('a', torch.ones(4))⟧"),
    "before add_module": net("⟦self.add_module('a', nn.ReLU())⟧"),
    "without parentheses": net("super().__init__\n⟦self.a⟧ = nn.Linear(4, 4)"),
    "in a method that it calls": net("self.make()") + "\n    def make(self):\n        ⟦self.a⟧ = nn.Linear(4, 4)\n",
    "in a base": """
        class Base(nn.Module):
            def __init__(self):
                ⟦self.a⟧ = nn.Linear(4, 4)

        class Net(Base):
            def __init__(self):
                super().__init__()
                self.b = nn.Linear(4, 4)

            def forward(self, x):
                return x
        """,
    "in a part of the model": """
        class Block(nn.Module):
            def __init__(self, width):
                ⟦self.a⟧ = nn.Linear(width, width)

            def forward(self, x):
                return self.a(x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block(4)

            def forward(self, x):
                return self.block(x)
        """,
    "in a part without layers": """
        class ⟦Scale⟧(nn.Module):
            def __init__(self, factor):
                self.factor = factor

            def forward(self, x):
                return x * self.factor

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = Scale(2.0)

            def forward(self, x):
                return self.scale(x)
        """,
    "in a model without layers": """
        class ⟦Net⟧(nn.Module):
            def __init__(self):
                self.factor = 2.0

            def forward(self, x):
                return x * self.factor
        """,
    "in a base beside torch's": """
        class Named:
            def __init__(self):
                self.name = "net"

        class Net(Named, nn.Module):
            def __init__(self):
                super().__init__()
                ⟦self.a⟧ = nn.Linear(4, 4)

            def forward(self, x):
                return self.a(x)
        """,
}
LATE = {
    "after a layer": net("⟦self.a⟧ = nn.Linear(4, 4)\nsuper().__init__()"),
    "of the old form": net("⟦self.a⟧ = nn.Linear(4, 4)\nsuper(Net, self).__init__()"),
    "by the class": net("⟦self.a⟧ = nn.Parameter(torch.ones(4))\nnn.Module.__init__(self)"),
}
HARMLESS = {
    "first": net("super().__init__()\nself.a = 1"),
    "after plain attributes": net("self.size = 4\nsuper().__init__()\nself.a = 2"),
    "by the class": net("nn.Module.__init__(self)"),
    "of the old form": net("super(Net, self).__init__()"),
    "in a branch": net("if True:\n    super().__init__()\nself.size = 4"),
    "no constructor": "class Net(nn.Module):\n    def forward(self, x):\n        return x\n",
    "in a method": net("self.begin()\nself.size = 4") + "\n    def begin(self):\n        super().__init__()\n",
    "scripted parts": net("super().__init__()\nself.a = torch.jit.script(nn.ReLU())"),
}


@pytest.mark.parametrize("name", MISSING)
def test_a_missing_call_of_the_base_is_reported(name: str, mistakes: Mistakes) -> None:
    (problem,) = mistakes(MISSING[name], "FX605")
    assert "only after super().__init__()" in problem.message


@pytest.mark.parametrize("name", LATE)
def test_a_late_call_of_the_base_is_reported_where_it_is_too_late(name: str, mistakes: Mistakes) -> None:
    (problem,) = mistakes(LATE[name], "FX605")
    assert problem.message.startswith("Net.__init__ calls super().__init__() too late")
    assert [place.message for place in problem.related] == ["super().__init__() is called here"]


@pytest.mark.parametrize("name", HARMLESS)
def test_a_constructor_that_calls_its_base_in_time_is_not_reported(name: str, mistakes: Mistakes) -> None:
    mistakes(HARMLESS[name])


def test_a_class_whose_arguments_are_unknown_is_reported_too(mistakes: Mistakes) -> None:
    text = """
        class Net(nn.Module):
            def __init__(self, factory):
                ⟦self.a⟧ = factory.make()

            def forward(self, x):
                return self.a(x)
        """
    mistakes(text, "FX605", None, None)


def test_a_base_that_a_subclass_may_initialise_needs_that_subclass(worker: Any, write: Callable[..., str]) -> None:
    text = """
import torch
from torch import nn

class Part(nn.Module):
    def __init__(self, width):
        self.width = width

class Net(Part):
    def __init__(self):
        nn.Module.__init__(self)
        Part.__init__(self, 4)
        self.fc = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc(x)
"""
    failure = Failure.from_json(worker.answer(f"{write(text)}:Part")["failure"])
    assert (failure.code, failure.severity) == ("FX605", "info")
    assert failure.needs == "a subclass that initialises torch.nn.Module"
    assert worker.report(f"{write(text)}:Net", "Net()", "torch.ones(2, 4)").problems == ()


_ABSTRACT = """
from abc import ABC, abstractmethod

from torch import nn

class Base(nn.Module, ABC):
    @abstractmethod
    def encode(self, x): ...

    @abstractmethod
    def decode(self, x): ...

    def forward(self, x):
        return self.decode(self.encode(x))

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.base = Base()

    def forward(self, x):
        return self.base(x)
"""


def test_an_abstract_class_needs_a_subclass_and_is_a_mistake_where_it_is_made(
    worker: Any, write: Callable[..., str]
) -> None:
    abstract, made = (
        Failure.from_json(worker.answer(f"{write(_ABSTRACT)}:{each}")["failure"]) for each in ("Base", "Net")
    )
    assert (abstract.severity, abstract.message) == (
        "info",
        "Base is abstract: a subclass has to define decode, encode",
    )
    assert abstract.needs == "a subclass that defines decode, encode"
    assert (made.severity, made.needs) == ("warning", None)


@pytest.mark.torchvision
def test_a_published_model_without_the_call_is_reported(published: Callable[..., str], mistakes: Mistakes) -> None:
    text = published(
        "densenet",
        ("    ) -> None:\n\n        super().__init__()\n        _log_api_usage_once(self)\n", "    ) -> None:\n"),
        ("self.features = nn.Sequential(", "⟦self.features⟧ = nn.Sequential("),
    )
    mistakes(text, "FX605", "torch.ones(1, 3, 64, 64)", "DenseNet()", "DenseNet")
