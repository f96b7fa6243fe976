"""A forward that returns nothing, or a module, is reported; one that runs for its effects is not."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from tests.tracing.passes.checks.classics.conftest import Mistakes

NET = """
class Store(nn.Module):
    def forward(self, x):
        self.last = x
        return x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(4, 4)
        self.head = nn.Linear(4, 2)
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
        self.store = Store()
        self.seen = []

    def {definition}(self, {arguments}):
        {body}
"""
GO = """
    def go(self, x):
        return self.a(x)
"""


def _indented(body: str) -> str:
    """Return the lines of ``forward``, and of methods behind it, with their indentation."""
    first, *methods = body.split("\n\n")
    indented = [first.replace("\n", "\n        "), *(each.replace("\n", "\n    ") for each in methods)]
    return "\n\n    ".join(indented)


def net(body: str, definition: str = "forward", arguments: str = "x") -> str:
    return NET.format(body=_indented(body), definition=definition, arguments=arguments)


LOST = {
    "assigned to a variable": "y = self.a(x)",
    "assigned to the input": "x = self.a(x)\nx = self.head(x)",
    "a call of a layer": "x = self.a(x)\nself.head(x)",
    "a loop over layers": "for layer in self.layers:\n    x = layer(x).relu()",
    "both branches": "if self.training:\n    y = self.a(x)\nelse:\n    y = self.head(x)",
    "one branch": "if not self.training:\n    return self.a(x)\nelif x is not None:\n    y = self.head(x)",
    "a list that is filled": "outputs = []\nfor layer in self.layers:\n    x = layer(x)\n    outputs.append(x)",
    "after an assertion": "assert x is not None\ny = self.a(x)",
    "after print": "x = self.a(x)\nprint(x.shape)\nx = self.head(x)",
    "under no_grad": "with torch.no_grad():\n    y = self.a(x)",
    "computed by functions of torch": "y = F.relu(x) + torch.tanh(x).mean(dim=1, keepdim=True)",
    "in place": "x = self.a(x)\nx = x.relu_()",
    "the name alone": "x = self.a(x)\nx",
    "a call of a method": "self.go(x)\n\ndef go(self, x):\n    return self.head(self.a(x))",
    "a pair alone": "x = self.a(x)\nx, x + 1",
    "a function of torch": "x = self.a(x)\ntorch.flatten(x, 1)",
    "a function of torch.nn.functional": "x = self.a(x)\nF.relu(x)",
}
MODULES = {
    "a layer": "x = self.a(x)\nreturn ⟦self.head⟧",
    "in a tuple": "x = self.a(x)\nreturn x, ⟦self.head⟧",
    "in a dict": "return {'a': self.a(x), 'head': ⟦self.head⟧}",
    "in a branch": "if x is None:\n    return ⟦self.a⟧\nreturn self.head(x)",
    "an item": "x = self.a(x)\nreturn ⟦self.layers[0]⟧",
    "nested": "return self.a(x), [⟦self.head⟧]",
    "of a child": "x = self.a(x)\nreturn ⟦self.store⟧",
    "in a conditional expression": "return ⟦self.a⟧ if x is None else self.head(x)",
    "as a variable": "x = self.a(x)\nx = ⟦self.head⟧\nreturn x",
    "as a variable in a branch": "if x is not None:\n    x = ⟦self.head⟧\n    return x\nreturn self.a(x)",
    "as a variable of a name of its own": "y = ⟦self.head⟧\nx = self.a(x)\nreturn x, y",
    "as a variable with an annotation": "y: torch.Tensor = ⟦self.head⟧\nreturn y",
    "a method": "x = self.a(x)\nreturn ⟦self.go⟧",
    "a method as a variable": "x = ⟦self.go⟧\nreturn x",
    "a method of a child": "x = self.a(x)\nreturn x, ⟦self.store.forward⟧",
    "of another method": "return self.go(x)\n\ndef go(self, x):\n    x = self.a(x)\n    return ⟦self.head⟧",
    "a variable of another method": "return self.go(x)\n\ndef go(self, x):\n    x = ⟦self.head⟧\n    return x",
    "of a method of a method": (
        "return self.go(x)\n\ndef go(self, x):\n    return self.on(self.a(x))\n\n"
        "def on(self, x):\n    return ⟦self.head⟧"
    ),
}
HARMLESS = {
    "it calls a method that calls something of the user's": "self.go(x)\n\ndef go(self, x):\n    y = report(self.a(x))",
    "it calls a method that keeps the result": "self.go(x)\n\ndef go(self, x):\n    self.last = self.a(x)",
    "it returns": "return self.a(x)",
    "it returns in a loop that has no other end": "while True:\n    x = self.a(x)\n    if x.ndim:\n        return x",
    "it is not written yet": "pass",
    "it only has a docstring": "'''Return nothing.'''",
    "it is abstract": "raise NotImplementedError",
    "it stores a loss": "self.loss = self.a(x).mean()",
    "it fills a list of its own": "self.seen.append(self.a(x))",
    "it fills a dict that it is given": "y = self.a(x)\nself.outputs = {}\nself.outputs['y'] = y",
    "it updates a buffer in place": "y = self.a(x)\nself.a.weight.data.add_(1)",
    "it changes its input": "y = x.add_(1)",
    "it changes its input by a function": "torch.relu_(x)",
    "it writes to its input": "y = self.a(x)\ntorch.add(y, 1, out=x)",
    "a part of it stores what it is given": "x = self.a(x)\nx = self.store(x)",
    "it only checks": "if x is None:\n    raise ValueError\nassert x.shape[1] == 4",
    "it drops a value on purpose": "_ = self.a(x)",
    "it yields": "for layer in self.layers:\n    x = layer(x)\n    yield x",
    "it calls something of the user's": "y = self.a(x)\nreport(y)",
    "it calls the backward pass": "y = self.a(x).sum()\ny.backward()",
    "it returns None as a choice": "y = self.a(x)\nreturn None",
    "it calls a layer that has a name": "layer = self.head\nreturn layer(x)",
    "a name held a layer before": "x, y = self.a(x), self.head\ny = y(x)\nreturn y",
    "a layer is chosen by a branch": "y = self.head\nif x is not None:\n    y = y(x)\nreturn y",
    "a loop replaces a layer": "y = self.head\nfor _ in range(2):\n    y = self.a(x)\nreturn y",
    "with replaces a layer": "y = self.head\nwith torch.no_grad():\n    y = y(x)\nreturn y",
    "a walrus replaces a layer": "y = self.head\nprint(y := y(x))\nreturn y",
    "another method chooses a layer": ("return self.choose()(x)\n\ndef choose(self):\n    return self.head"),
    "another method with an argument chooses a layer": (
        "layer = self.choose(1)\nreturn layer(x)\n\ndef choose(self, n):\n    return self.layers[0]"
    ),
    "it returns a property": "return self.a(x) * self.scale\n\n@property\ndef scale(self):\n    return 2",
    "it returns an attribute": "self.last = self.a(x)\nreturn self.last",
}


@pytest.mark.parametrize("name", LOST)
def test_a_forward_without_return_is_reported_at_its_name(name: str, mistakes: Mistakes) -> None:
    mistakes(net(LOST[name], "⟦forward⟧"), "FX603")


def test_a_method_that_computes_the_result_without_return_is_reported_at_its_name(mistakes: Mistakes) -> None:
    (problem,) = mistakes(net("return self.go(x)\n\ndef ⟦go⟧(self, x):\n    x = self.a(x)\n    x"), "FX603")
    assert problem.message.startswith("go ends without returning anything")


@pytest.mark.parametrize("name", MODULES)
def test_a_module_that_is_returned_is_reported(name: str, mistakes: Mistakes) -> None:
    go = "" if "def go" in MODULES[name] else GO
    (problem,) = mistakes(net(MODULES[name]) + go, "FX603")
    assert "instead of its result" in problem.message


@pytest.mark.parametrize("name", HARMLESS)
def test_a_forward_that_runs_for_something_else_is_not_reported(name: str, mistakes: Mistakes) -> None:
    mistakes("def report(value):\n    print(value)\n\n" + net(HARMLESS[name]))


def test_a_forward_that_only_gives_access_to_a_module_is_not_reported(mistakes: Mistakes) -> None:
    text = """
        class Registry(nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = nn.Linear(4, 4)

            def forward(self):
                return self.layer

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.registry = Registry()

            def forward(self, x):
                return self.registry()(x)
        """
    mistakes(text)


def test_a_forward_whose_layers_have_hooks_is_not_reported(mistakes: Mistakes) -> None:
    text = """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a = nn.Linear(4, 4)
                self.features = []
                self.a.register_forward_hook(lambda module, given, result: self.features.append(result))

            def forward(self, x):
                x = self.a(x)
        """
    mistakes(text)


def test_a_part_of_a_model_that_returns_nothing_is_reported(mistakes: Mistakes) -> None:
    text = """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 4)

            def ⟦forward⟧(self, x):
                x = self.lin(x).relu()

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block, self.head = Block(), nn.Linear(4, 2)

            def forward(self, x):
                y = self.block(x)
                return self.head(x), y
        """
    (problem,) = mistakes(text, "FX603")
    assert problem.module_path == "block"


def test_a_part_that_returns_nothing_is_reported_where_its_result_is_used_and_not_twice(
    worker: Any, write: Callable[..., str]
) -> None:
    text = """
        from torch import nn

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(4, 4)

            def forward(self, x):
                x = self.lin(x).relu()

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.blocks, self.head = nn.ModuleList([Block(), Block()]), nn.Linear(4, 2)

            def forward(self, x):
                for block in self.blocks:
                    x = block(x)
                return self.head(x)
        """
    for recipe in (("Net()", "torch.ones(2, 4)"), ()):
        problems = worker.report(write(text) + ":Net", *recipe).problems
        found = [each for each in problems if each.code.startswith(("FX4", "FX6"))]
        # The result is used in the next block and behind the last one: fxlsp check shows that as one problem.
        assert {(each.code, each.severity) for each in found} == {("FX401", "error")}
        named = [error for error in found if "returns nothing: is a `return` missing?" in error.message]
        # What the loop passes on is found by its columns.
        assert named == found if sys.version_info >= (3, 11) else named
        for error in named:
            assert "this is computed last" in [each.message for each in error.related]


@pytest.mark.torchvision
@pytest.mark.parametrize("name", ["alexnet", "squeezenet", "vgg"])
def test_a_published_model_without_its_return_is_reported(
    name: str, published: Callable[..., str], mistakes: Mistakes
) -> None:
    init, size = {"alexnet": ("AlexNet", 224), "squeezenet": ("SqueezeNet", 64), "vgg": ("VGG", 32)}[name]
    ends = {
        "alexnet": ("        x = self.classifier(x)\n        return x", "        x = self.classifier(x)"),
        "squeezenet": ("        return torch.flatten(x, 1)", "        x = torch.flatten(x, 1)"),
        "vgg": ("        x = self.classifier(x)\n        return x", "        x = self.classifier(x)"),
    }
    text = published(name, ends[name])
    head, _, rest = text.rpartition("    def forward(")
    arguments = "make_layers(cfgs['A'])" if name == "vgg" else ""
    mistakes(
        f"{head}    def ⟦forward⟧({rest}",
        "FX603",
        f"torch.ones(1, 3, {size}, {size})",
        f"{init}({arguments})",
        init,
    )
