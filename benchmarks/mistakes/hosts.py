"""Models into which snippets are planted: a small one, a U-Net, and files of torchvision."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path

from benchmarks.mistakes.broken_model import FORWARD, INIT, BrokenModel, Edit, Host, Mistake

KINDS = ("small", "middle", "published")
INPUTS = "torch.randn(2, 3, 64, 64)"
"""For all hosts."""
_INITIALISES = "super().__init__()"

_HEAD = """\
import torch
import torch.nn.functional as F
from torch import nn
"""
_HELPERS = """

class Pair(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, x, skip):
        return self.inner(x) + skip


class Own(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.inner = nn.Linear(width, width)

    def forward(self, x, scale=1.0):
        return self.inner(x) * scale

    def twice(self, x):
        return self(self(x))
"""
_SMALL = """

class Small(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3)
        self.pool = nn.AdaptiveAvgPool2d(1)
        # init
        self.head = nn.Linear(8, 5)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        x = self.pool(x).flatten(1)
        # forward
        return self.head(x)


def net():
    return Small()
"""
_MIDDLE = """

class Block(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, padding=1, bias=False)
        self.norm1 = nn.BatchNorm2d(width)
        self.conv2 = nn.Conv2d(width, width, 3, padding=1, bias=False)
        self.norm2 = nn.BatchNorm2d(width)

    def forward(self, x):
        x = torch.relu(self.norm1(self.conv1(x)))
        return torch.relu(self.norm2(self.conv2(x)))


class Up(nn.Module):
    def __init__(self, channels, width):
        super().__init__()
        self.up = nn.ConvTranspose2d(channels, width, 2, stride=2)
        self.block = Block(2 * width, width)

    def forward(self, x, skip):
        return self.block(torch.cat([skip, self.up(x)], dim=1))


class UNet(nn.Module):
    def __init__(self, width=8, depth=3, classes=5):
        super().__init__()
        widths = [width * 2**level for level in range(depth)]
        self.down = nn.ModuleList(
            [Block(before, after) for before, after in zip([3, *widths[:-1]], widths)]
        )
        self.pool = nn.MaxPool2d(2)
        self.up = nn.ModuleList([Up(after, before) for before, after in zip(widths[-2::-1], widths[:0:-1])])
        self.mix = nn.Conv2d(width, width, 1)
        # init
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        skips = []
        for block in self.down[:-1]:
            x = block(x)
            skips.append(x)
            x = self.pool(x)
        x = self.down[-1](x)
        for block in self.up:
            x = block(x, skips.pop())
        x = self.mix(x).mean(dim=(2, 3))
        # forward
        return self.head(x)


def net():
    return UNet()
"""


def snippets(init: str, forward: str, initialises: str = _INITIALISES) -> tuple[Edit, ...]:
    """Return edits after which ``forward`` returns, so that nothing fails behind the snippets.

    Args:
        init: in the constructor of the root; may name ``{w}``, the width of the features.
        forward: in its ``forward``; may name ``{x}``, the features, and ``{n}``, their width as a number.
        initialises: in the place of the root's ``super().__init__()``.
    """
    if not any(line.startswith("return ") for line in forward.splitlines()):
        forward = f"{forward}\nreturn {{x}}"
    edits = (Edit(_INITIALISES, initialises), Edit(INIT, init), Edit(FORWARD, forward))
    return tuple(edit for edit in edits if edit.new)


def planted(mistakes: Sequence[Mistake], kinds: Iterable[str]) -> Iterator[BrokenModel]:
    """Yield each mistake in one host of each kind, the hosts of a kind in turns."""
    for kind in kinds:
        hosts = _hosts(kind)
        yield from (hosts[number % len(hosts)].broken(mistake) for number, mistake in enumerate(mistakes))


@cache
def _hosts(kind: str) -> tuple[Host, ...]:
    if kind == "small":
        return (_host(kind, "small", _HEAD + _HELPERS + _SMALL, "x", "8", 8),)
    if kind == "middle":
        return (_host(kind, "unet", _HEAD + _HELPERS + _MIDDLE, "x", "width", 8),)
    return (
        _published("resnet", "ResNet(BasicBlock, [1, 1, 1, 1])", "x", "512 * block.expansion", 512),
        _published("mobilenetv2", "MobileNetV2(inverted_residual_setting=[[1, 16, 1, 1]])", "x", "1280", 1280),
        _published("densenet", "DenseNet(8, (2, 2), 16)", "out", "num_features", 32),
    )


def _host(kind: str, name: str, text: str, variable: str, width: str, features: int) -> Host:
    """Return a host in which a variable holds features of the shape (batch, width)."""
    return Host(kind, name, text, "net()", (("{x}", variable), ("{w}", width), ("{n}", str(features))))


def published_source(name: str) -> str:
    """Return the text of a file of torchvision's models that can be run elsewhere."""
    import torchvision

    text = (Path(torchvision.__file__).parent / "models" / f"{name}.py").read_text(encoding="utf-8")
    text = re.sub(r"^from \.\.", "from torchvision.", text, flags=re.MULTILINE)
    text = re.sub(r"^from \.", "from torchvision.models.", text, flags=re.MULTILINE)
    # torchvision refuses a second function of one name.
    return re.sub(r"^@register_model\(\)\n", "", text, flags=re.MULTILINE)


def _published(name: str, made: str, variable: str, width: str, features: int) -> Host:
    text = published_source(name)
    # Behind the imports, whatever they are.
    start = text.index("\n\n\n", text.rindex("\nfrom ", 0, text.index("\nclass ")))
    text = f"{text[:start]}\nimport torch.nn.functional as F{_HELPERS}{text[start:]}"
    root = text.index(f"\nclass {made.partition('(')[0]}(")
    loop = text.index("        for m in self.modules():", root)
    text = f"{text[:loop]}        # init\n{text[loop:]}"
    found = re.compile(rf"^( *){variable} = torch\.flatten\({variable}, 1\)\n", re.MULTILINE).search(text, root)
    if found is None:
        raise ValueError(f"{name}.py has no place for a snippet")
    text = f"{text[: found.end()]}{found[1]}# forward\n{text[found.end() :]}"
    return _host("published", name, f"{text}\n\ndef net():\n    return {made}\n", variable, width, features)
