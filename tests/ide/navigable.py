"""A model with containers, a loop and ``add_module``, and its trace."""

from __future__ import annotations

from tests.ide.builder import Trace, tensor

TEXT = """\
from torch import nn
from torch.utils.checkpoint import checkpoint


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 1)

    def forward(self, x):
        return self.conv(x) + x


class Double(nn.Module):
    def forward(self, x):
        return x * 2


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 1)
        self.layer = nn.Sequential(*[Block() for _ in range(4)])
        self.mixed = nn.ModuleList([Block(), Double()])
        self.add_module("dyn", Double())
        self.tail = nn.Sequential(
            nn.Conv2d(4, 8, 1),
            nn.Flatten(),
        )

    def forward(self, x):
        x = self.stem(x)
        x = self.layer(x)
        x = self.layer[0](x)
        for turn in self.mixed:
            x = turn(x)
        x = checkpoint(self.dyn, x)
        return self.tail(x)
"""

FORWARD = "forward"
"""The name in the ``def`` line of ``Block``, then of ``Double``, then of ``Net``."""


def trace(text: str = TEXT, name: str = "Net") -> Trace:
    made = Trace(text, name)
    image, wide, flat = tensor(1, 3, 8, 8), tensor(1, 4, 8, 8), tensor(1, 512)

    def block(path: str, at: str) -> None:
        first = len(made.nodes)
        made.call(path, "Block", (first, first + 2), [wide], wide, at=at, forward=FORWARD)
        made.leaf(f"{path}.conv", "self.conv(x)", "Conv2d(4, 4)", wide, wide)
        made.node(f"add_{first}", "self.conv(x) + x", wide, path=path, through=[at])

    def double(path: str, at: str) -> None:
        first = len(made.nodes)
        made.call(path, "Double", (first, first + 1), [wide], wide, at=at, forward=FORWARD, forward_occurrence=1)
        made.node(f"mul_{first}", "x * 2", wide, path=path, through=[at])

    made.call("", name, (0, 17), [image], flat, forward=FORWARD, forward_occurrence=2)
    made.leaf("stem", "self.stem(x)", "Conv2d(3, 4)", image, wide)
    made.call("layer", "Sequential", (1, 9), [wide], wide, at="self.layer(x)")
    for index in range(4):
        block(f"layer.{index}", "self.layer(x)")
    block("layer.0", "self.layer[0](x)")
    block("mixed.0", "turn(x)")
    double("mixed.1", "turn(x)")
    double("dyn", "checkpoint(self.dyn, x)")
    made.call("tail", "Sequential", (15, 17), [wide], flat, at="self.tail(x)")
    made.leaf("tail.0", "self.tail(x)", "Conv2d(4, 8)", wide, tensor(1, 8, 8, 8))
    made.leaf("tail.1", "self.tail(x)", "Flatten()", tensor(1, 8, 8, 8), flat)
    return _with_modules(made)


def _with_modules(made: Trace) -> Trace:
    made.module("stem", "Conv2d", "self.stem", "nn.Conv2d(3, 4, 1)")
    made.module("layer", "Sequential", "self.layer", "nn.Sequential(*[Block() for _ in range(4)])")
    for index in range(4):
        made.module(f"layer.{index}", "Block", "nn.Sequential(*[Block() for _ in range(4)])", "Block()")
        made.module(f"layer.{index}.conv", "Conv2d", "self.conv", "nn.Conv2d(4, 4, 1)")
    made.module("mixed", "ModuleList", "self.mixed", "nn.ModuleList([Block(), Double()])")
    made.module("mixed.0", "Block", "nn.ModuleList([Block(), Double()])")
    made.module("mixed.0.conv", "Conv2d", "self.conv", "nn.Conv2d(4, 4, 1)")
    made.module("mixed.1", "Double", "nn.ModuleList([Block(), Double()])")
    made.module("dyn", "Double", 'self.add_module("dyn", Double())')
    tail = made.text[made.text.index("nn.Sequential(\n") :]
    whole = tail[: tail.index("\n        )") + len("\n        )")]
    made.module("tail", "Sequential", "self.tail", whole)
    made.module("tail.0", "Conv2d", whole, "nn.Conv2d(4, 8, 1)")
    made.module("tail.1", "Flatten", whole, "nn.Flatten()")
    return made
