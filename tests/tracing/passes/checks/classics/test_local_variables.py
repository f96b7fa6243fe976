"""A local variable that was meant as an attribute is reported, other local variables are not."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from tests.tracing.passes.checks.classics.conftest import Mistakes

NET = """
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        {init}

    def forward(self, x):
        {forward}
"""


def net(init: str, forward: str = "return self.conv(x)") -> str:
    return NET.format(init=init.replace("\n", "\n        "), forward=forward.replace("\n", "\n        "))


MEANT = {
    "a layer": net("⟦conv⟧ = nn.Linear(4, 4)"),
    "a parameter": net("⟦scale⟧ = nn.Parameter(torch.ones(4))", "return x * self.scale"),
    "a number": net("⟦scale⟧ = 3", "return x * self.scale"),
    "one of two": net("self.a, ⟦conv⟧ = nn.Linear(4, 4), nn.Linear(4, 4)", "return self.conv(self.a(x))"),
    "with an annotation": net("⟦conv⟧: nn.Module = nn.Linear(4, 4)"),
    "initialised and forgotten": net("⟦conv⟧ = nn.Linear(4, 4)\nnn.init.zeros_(conv.weight)\nconv.bias.data.zero_()"),
    "a list that is filled and forgotten": net(
        "⟦layers⟧ = nn.ModuleList()\nfor _ in range(2):\n    layers.append(nn.Linear(4, 4))",
        "for layer in self.layers:\n    x = layer(x)\nreturn x",
    ),
    "in a branch": net("if True:\n    ⟦conv⟧ = nn.Linear(4, 4)\nelse:\n    conv = nn.Identity()"),
    "read where forward does not come": net(
        "self.a = nn.Linear(4, 4)\n⟦conv⟧ = nn.Linear(4, 4)",
        "if x is None:\n    return self.conv(x)\nreturn self.a(x)",
    ),
    "read by another method": net("⟦conv⟧ = nn.Linear(4, 4)", "return self.run(x)")
    + "\n    def run(self, x):\n        return self.conv(x)\n",
    "read in the constructor, so there is no model": net("⟦conv⟧ = nn.Linear(4, 4)\nself.conv.weight.data.zero_()"),
    "in a module of the model": """
        class Block(nn.Module):
            def __init__(self, width):
                super().__init__()
                ⟦lin⟧ = nn.Linear(width, width)

            def forward(self, x):
                return self.lin(x)

        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                self.block = Block(4)

            def forward(self, x):
                return self.block(x)
        """,
}
HARMLESS = {
    "assigned too": net("conv = nn.Linear(4, 4)\nself.conv = conv"),
    "another one with the name": net("conv = 3\nself.conv = nn.Linear(4, 4)"),
    "registered by add_module": net("conv = nn.Linear(4, 4)\nself.add_module('conv', conv)"),
    "registered by setattr": net("conv = nn.Linear(4, 4)\nfor name in ('conv',):\n    setattr(self, name, conv)"),
    "used for something else": net(
        "conv = nn.Linear(4, 4)\nself.body = nn.Sequential(conv)", "return self.body(x) if x is not None else self.conv"
    ),
    "unused, and nothing reads an attribute": net(
        "unused = nn.Linear(4, 4)\nself.conv = nn.Linear(4, 4)", "return self.conv(x)"
    ),
    "an attribute of the class": """
        class Net(nn.Module):
            scale = 3.0

            def __init__(self):
                super().__init__()
                scale = 2.0

            def forward(self, x):
                return x * self.scale
        """,
    "a property": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                scale = 2.0

            @property
            def scale(self):
                return 3.0

            def forward(self, x):
                return x * self.scale
        """,
    "an attribute that a base sets": """
        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.conv = nn.Linear(4, 4)

        class Net(Base):
            def __init__(self):
                super().__init__()
                conv = 4

            def forward(self, x):
                return self.conv(x)
        """,
    "an attribute that another method sets": net("conv = 4\nself.a = nn.Linear(4, 4)", "return self.a(x)")
    + "\n    def build(self):\n        self.conv = nn.Linear(4, 4)\n        return self.conv\n",
    "an attribute that may be missing": net("conv = 4", "if hasattr(self, 'conv'):\n    return self.conv(x)\nreturn x"),
    "an attribute whose absence is caught": net(
        "conv = 4", "try:\n    return self.conv(x)\nexcept AttributeError:\n    return x"
    ),
    "a class with attributes of its own making": """
        class Net(nn.Module):
            def __init__(self):
                super().__init__()
                scale = 2.0

            def __getattr__(self, name):
                return 3.0 if name == "scale" else super().__getattr__(name)

            def forward(self, x):
                return x * self.scale
        """,
}


@pytest.mark.parametrize("name", MEANT)
def test_a_variable_is_reported_whose_name_is_read_as_a_missing_attribute(name: str, mistakes: Mistakes) -> None:
    (problem,) = mistakes(MEANT[name], "FX604")
    (read,) = problem.related
    assert read.message.startswith("self.")
    assert read.message.endswith(" is read here")


@pytest.mark.parametrize("name", HARMLESS)
def test_a_variable_is_not_reported_if_it_is_used_or_the_attribute_exists(name: str, mistakes: Mistakes) -> None:
    mistakes(HARMLESS[name])


@pytest.mark.torchvision
def test_a_variable_in_a_published_model_is_reported(published: Callable[..., str], mistakes: Mistakes) -> None:
    text = published("resnet", ("        self.relu = nn.ReLU(inplace=True)", "        ⟦relu⟧ = nn.ReLU(inplace=True)"))
    init = "ResNet(BasicBlock, [1, 1, 1, 1])"
    mistakes(text, "FX604", "torch.ones(1, 3, 64, 64)", init, "ResNet")
