"""What other files say about the models of one, with the real server and the real torch."""

from __future__ import annotations

from pathlib import Path

from tests.server.conftest import Start

NET = """\
from torch import nn


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(8, width)

    def forward(self, x):
        return self.linear(x)
"""

TRAIN = """\
import torch
from models import Net

raise RuntimeError("nobody runs this")


def main():
    width = 16
    net = Net(width)
    net(torch.randn(4, 8))
"""

PARTS = """\
from torch import nn


class Part(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.linear = nn.Linear(width, 2 * width)

    def forward(self, x):
        return self.linear(x)
"""

WHOLE = """\
import torch
from torch import nn
from parts import Part


class Whole(nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = nn.Sequential(Part(3), Part(6))

    def forward(self, x):
        return self.parts(x)


def test():
    Whole()(torch.randn(5, 3))
"""


async def test_a_call_site_in_an_unsaved_buffer_changes_the_shapes_of_the_model(start: Start, tmp_path: Path) -> None:
    (tmp_path / "models.py").write_text(NET)
    (tmp_path / "train.py").write_text(TRAIN.replace("16", "12"))
    client = await start()
    models = client.open(tmp_path / "models.py")
    line = "return self.linear(x)"
    await client.until(lambda: client.hints(models), lambda hints: hints.get(line) == "(4, 12)")
    train = client.open(tmp_path / "train.py", TRAIN)
    await client.until(lambda: client.hints(models), lambda hints: hints.get(line) == "(4, 16)")
    client.replace(train, "width = 16", "width = 32")
    await client.until(lambda: client.hints(models), lambda hints: hints.get(line) == "(4, 32)")
    lenses = await client.lenses(models)
    assert any("call site train.py:10" in title for _, title in lenses)
    client.close(train)
    await client.until(lambda: client.hints(models), lambda hints: hints.get(line) == "(4, 12)")


async def test_a_class_shows_what_a_model_of_a_file_that_is_not_open_makes_of_it(start: Start, tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text(PARTS)
    (tmp_path / "whole.py").write_text(WHOLE)
    client = await start()
    parts = client.open(tmp_path / "parts.py")
    lenses = await client.until(
        lambda: client.lenses(parts), lambda lenses: any("traced inside Whole" in title for _, title in lenses)
    )
    assert any("(5, 3)" in title for _, title in lenses)
