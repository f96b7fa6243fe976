"""A forward that returns nothing, or a module, is reported; one that runs for its effects is not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.worker.checks.classics.conftest import Mistakes

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


def net(body: str, definition: str = "forward", arguments: str = "x") -> str:
    return NET.format(body=body.replace("\n", "\n        "), definition=definition, arguments=arguments)


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
}
HARMLESS = {
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
}


@pytest.mark.parametrize("name", LOST)
def test_a_forward_without_return_is_reported_at_its_name(name: str, mistakes: Mistakes) -> None:
    mistakes(net(LOST[name], "⟦forward⟧"), "FX603")


@pytest.mark.parametrize("name", MODULES)
def test_a_module_that_is_returned_is_reported(name: str, mistakes: Mistakes) -> None:
    (problem,) = mistakes(net(MODULES[name]), "FX603")
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
                return self.head(self.block(x))
        """
    (problem,) = mistakes(text, "FX603")
    assert problem.module_path == "block"


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
