"""Modules in a Python list, tuple or dict that nothing registers are reported, others are not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tracing.passes.checks.classics.conftest import Mistakes

NET = """
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)

    def forward(self, x):
        return self.lin(x).relu()

def layer():
    return nn.Linear(4, 4)

class Net(nn.Module):
    def __init__(self{arguments}):
        super().__init__()
        {init}

    def forward(self, x):
        {forward}
"""


def net(init: str, forward: str = "return x", arguments: str = "") -> str:
    lines = "\n        "
    return NET.format(init=init.replace("\n", lines), forward=forward.replace("\n", lines), arguments=arguments)


LOOP = "for layer in self.layers:\n    x = layer(x)\nreturn x"
LOST = {
    "in a list": net("⟦self.layers⟧ = [nn.Linear(4, 4), nn.Linear(4, 4)]", LOOP),
    "never called": net("⟦self.layers⟧ = [nn.Linear(4, 4), nn.Linear(4, 4)]"),
    "in a comprehension": net("⟦self.layers⟧ = [Block() for _ in range(3)]", LOOP),
    "in a tuple without parentheses": net("⟦self.layers⟧ = nn.Linear(4, 4), nn.ReLU()", LOOP),
    "in a dict": net("⟦self.heads⟧ = {'a': layer(), 'b': layer()}", "return self.heads['a'](x)"),
    "in lists of a dict": net("⟦self.heads⟧ = {'a': [layer(), layer()]}", "return self.heads['a'][0](x)"),
    "in a list of lists": net("⟦self.rows⟧ = [[layer()], [layer()]]", "return self.rows[1][0](x)"),
    "appended to an attribute": net("⟦self.layers⟧ = []\nfor _ in range(3):\n    self.layers.append(Block())", LOOP),
    "appended to a variable": net(
        "layers = []\nfor _ in range(3):\n    layers.append(Block())\n⟦self.layers⟧ = layers", LOOP
    ),
    "an annotated attribute": net("⟦self.layers⟧: list[nn.Module] = [Block(), Block()]", LOOP),
    "two attributes at once": net("⟦self.layers⟧, self.size = [Block(), Block()], 3", LOOP),
    "copies": net("import copy\nfirst = Block()\n⟦self.layers⟧ = [copy.deepcopy(first) for _ in range(2)]", LOOP),
    "some of them registered": net("self.first = layer()\n⟦self.layers⟧ = [self.first, layer()]", LOOP),
    "an instance of dropout alone": net("⟦self.layers⟧ = [nn.Dropout(), nn.ReLU()]", LOOP),
    "made by a method": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.make()

            def make(self):
                ⟦self.layers⟧ = [nn.Linear(4, 4), nn.Linear(4, 4)]

            def forward(self, x):
                return self.layers[1](self.layers[0](x))
        """,
    "in a module of the model, and once for two instances": """
        class Stack(nn.Module):
            def __init__(self):
                super().__init__()
                ⟦self.layers⟧ = [nn.Linear(4, 4), nn.Linear(4, 4)]

            def forward(self, x):
                for layer in self.layers:
                    x = layer(x)
                return x

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.a, self.b = Stack(), Stack()

            def forward(self, x):
                return self.b(self.a(x))
        """,
    "in a list of modules with a list of their own": """
        class Stack(nn.Module):
            def __init__(self):
                super().__init__()
                ⟦self.inner⟧ = [nn.Linear(4, 4), nn.Linear(4, 4)]
                self.norm = nn.LayerNorm(4)

            def forward(self, x):
                return self.norm(self.inner[1](self.inner[0](x)))

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                ⟦self.stacks⟧ = [Stack(), Stack()]

            def forward(self, x):
                return self.stacks[1](self.stacks[0](x))
        """,
    "made by the model and passed to a part of it": """
        class Stack(nn.Module):
            def __init__(self, layers):
                super().__init__()
                ⟦self.layers⟧ = layers

            def forward(self, x):
                return self.layers[1](self.layers[0](x))

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.stack = Stack([nn.Linear(4, 4), nn.Linear(4, 4)])

            def forward(self, x):
                return self.stack(x)
        """,
}
HARMLESS = {
    "nn.ModuleList": net("self.layers = nn.ModuleList([layer(), layer()])", LOOP),
    "nn.ModuleDict": net("self.heads = nn.ModuleDict({'a': layer()})", "return self.heads['a'](x)"),
    "a list that becomes a Sequential": net(
        "layers = [layer(), layer()]\nself.body = nn.Sequential(*layers)", "return self.body(x)"
    ),
    "a list beside the Sequential of the same layers": net(
        "self.layers = [layer(), layer()]\nself.body = nn.Sequential(*self.layers)", LOOP
    ),
    "a list of registered modules": net("self.a, self.b = layer(), layer()\nself.layers = [self.a, self.b]", LOOP),
    "registered by add_module": net(
        "self.layers = [layer(), layer()]\nfor i, each in enumerate(self.layers):\n"
        "    self.add_module(f'layer{i}', each)",
        LOOP,
    ),
    "registered by setattr": net(
        "self.layers = []\nfor i in range(2):\n    setattr(self, f'l{i}', layer())\n"
        "    self.layers.append(getattr(self, f'l{i}'))",
        LOOP,
    ),
    "a list of functions without state": net("self.layers = [nn.ReLU(), nn.GELU()]", LOOP),
    "one module that is hidden on purpose": net("teacher = Block()\nself.teacher = [teacher]", "return x"),
    "one frozen module": net("self.teacher = [Block().requires_grad_(False)]", "return self.teacher[0](x)"),
    "a list of sizes": net("self.sizes = [4, 4]\nself.lin = layer()", "return self.lin(x)"),
    "a list of classes": net("self.kinds = [nn.Linear, nn.ReLU]\nself.lin = self.kinds[0](4, 4)", "return self.lin(x)"),
    "a reference to the parent": """
        class Child(nn.Module):
            def __init__(self, parent):
                super().__init__()
                self.parent = [parent]
                self.lin = nn.Linear(4, 4)

            def forward(self, x):
                return self.lin(x) * self.parent[0].scale

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.scale = 2.0
                self.children_ = nn.ModuleList([Child(self), Child(self)])

            def forward(self, x):
                return self.children_[1](self.children_[0](x))
        """,
    "shared with another part that registers them": """
        class View(nn.Module):
            def __init__(self, layers):
                super().__init__()
                self.layers = list(layers)

            def forward(self, x):
                return self.layers[0](x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 4)])
                self.view = View(self.layers)

            def forward(self, x):
                return self.view(x)
        """,
    "a class that trains what it holds by its own parameters()": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.layers = [nn.Linear(4, 4), nn.Linear(4, 4)]

            def parameters(self, recurse=True):
                for layer in self.layers:
                    yield from layer.parameters()

            def forward(self, x):
                return self.layers[0](x)
        """,
    "made in forward, which is another problem": net("self.cache = {}", "self.cache['a'] = layer()\nreturn x"),
}


@pytest.mark.parametrize("name", LOST)
def test_modules_that_nothing_registers_are_reported_where_they_are_assigned(name: str, mistakes: Mistakes) -> None:
    mistakes(LOST[name], "FX601")


@pytest.mark.parametrize("name", HARMLESS)
def test_modules_that_something_registers_are_not_reported(name: str, mistakes: Mistakes) -> None:
    mistakes(HARMLESS[name])


def test_modules_from_outside_the_model_are_not_reported(mistakes: Mistakes) -> None:
    text = net("self.layers = layers", LOOP, ", layers")
    mistakes(text, init="Net([nn.Linear(4, 4), nn.Linear(4, 4)])")


def test_the_message_says_what_does_not_happen_to_the_modules(mistakes: Mistakes) -> None:
    (problem,) = mistakes(LOST["in a comprehension"], "FX601")
    assert problem.message == (
        "3 modules of self.layers are not registered, because a Python list holds them: not in parameters(), not "
        "trained, not saved, not moved by .to(). nn.ModuleList registers them."
    )
    (called,) = problem.related
    assert called.message == "this Block is called here"


def test_dropout_in_a_list_does_not_leave_train_mode(mistakes: Mistakes) -> None:
    (problem,) = mistakes(LOST["an instance of dropout alone"], "FX601")
    assert "train() and eval() do not reach their dropout" in problem.message


@pytest.mark.torchvision
def test_layers_of_a_published_model_in_a_list_are_reported(published: Callable[..., str], mistakes: Mistakes) -> None:
    text = published(
        "resnet",
        ("self.layer4 = self._make_layer(", "⟦self.layer4⟧ = list(self._make_layer("),
        ("dilate=replace_stride_with_dilation[2])", "dilate=replace_stride_with_dilation[2]))"),
        ("x = self.layer4(x)", "for block in self.layer4:\n            x = block(x)"),
    )
    init = "ResNet(BasicBlock, [1, 1, 1, 1])"
    (problem,) = mistakes(text, "FX601", "torch.ones(1, 3, 64, 64)", init, "ResNet")
    assert problem.message.startswith("The BasicBlock of self.layer4 is not registered")
