"""A model with two instances of a block, and its trace."""

from __future__ import annotations

from tests.ide.builder import Trace, tensor

TEXT = """\
from torch import nn
import torch


class Block(nn.Module):
    def forward(self, x):
        y = torch.relu(self.conv(x))
        return y + x


class Net(nn.Module):
    def forward(self, x):
        x = self.stem(x)
        x = self.blocks(x)
        return self.head(x)
"""


def trace(text: str = TEXT) -> Trace:
    """Return a trace of the model.

    ``stem`` is a leaf; ``blocks`` is an ``nn.Sequential`` of two blocks, of which the second is narrower.
    """
    made = Trace(text)
    image, wide, narrow = tensor(1, 3, 8, 8), tensor(1, 4, 8, 8), tensor(1, 4, 4, 4)
    made.call("", "Net", (0, 10), [image], tensor(1, 10), forward="    def forward(self, x):\n        x =", params=1234)
    made.node("x", "x):\n        x = self.stem"[:1], image, op="placeholder", target="x", occurrence=_argument(text))
    made.leaf("stem", "self.stem(x)", "Conv2d(3, 4, kernel_size=(3, 3))", image, wide, params=108)
    made.call("blocks", "Sequential", (2, 8), [wide], narrow, at="self.blocks(x)", params=200)
    for index, (entering, leaving) in enumerate([(wide, wide), (wide, narrow)]):
        path, first = f"blocks.{index}", 2 + 3 * index
        block_forward = "    def forward(self, x):\n        y ="
        made.call(path, "Block", (first, first + 3), [entering], leaving, at="self.blocks(x)", forward=block_forward)
        conv = f"{path}.conv"
        made.leaf(conv, "self.conv(x)", "Conv2d(4, 4, kernel_size=(1, 1))", entering, leaving, params=100)
        for name, expression in (("relu", "torch.relu(self.conv(x))"), ("add", "y + x")):
            made.node(f"{name}_{index}", expression, leaving, path=path, through=["self.blocks(x)"], inputs=[leaving])
    made.leaf("head", "self.head(x)", "Linear(64, 10)", narrow, tensor(1, 10), params=650)
    made.node("output", "return self.head(x)", tensor(1, 10), op="output", target="output", path=None)
    return made


def _argument(text: str) -> int:
    """Return which occurrence of the letter x is the parameter of ``Net.forward``."""
    return text[: text.index("def forward(self, x):\n        x =") + len("def forward(self, ")].count("x")
