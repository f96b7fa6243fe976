"""A recipe and an instance that were chosen are so again when the server is started anew, with the real torch."""

from __future__ import annotations

from pathlib import Path

from tests.server.conftest import Start
from tests.support.client import Buffer, Client

NET = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self, entering, leaving):
        super().__init__()
        self.linear = nn.Linear(entering, leaving)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Net(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.wide = Block(4, width)
        self.narrow = Block(width, 2)

    def forward(self, x):
        return self.narrow(self.wide(x))
"""
TRAIN = """\
import torch
from net import Net

Net(8)(torch.randn(3, 4))
Net(16)(torch.randn(5, 4))
"""
LINE = "return torch.relu(self.linear(x))"


async def open_net(start: Start, folder: Path, expected: str) -> tuple[Client, Buffer]:
    """A new server, once it shows of the block's only expression what is expected."""
    client = await start()
    buffer = client.open(folder / "net.py", NET)
    await client.until(lambda: client.hints(buffer), lambda hints: hints.get(LINE) == expected)
    return client, buffer


async def id_of(client: Client, buffer: Buffer, command: str, name: str, text: str) -> str:
    listed = await client.command(command, buffer.uri, name)
    return next(str(each["id"]) for each in listed if text in each["text"])


async def test_what_was_chosen_is_shown_by_the_next_server(start: Start, tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(TRAIN)
    client, buffer = await open_net(start, tmp_path, "(3, 8) …")
    recipe = await id_of(client, buffer, "fxlsp.recipes", "Net", "Net(16)")
    await client.command("fxlsp.chooseRecipe", buffer.uri, "Net", recipe)
    instance = await id_of(client, buffer, "fxlsp.instances", "Block", "narrow")
    await client.command("fxlsp.chooseInstance", buffer.uri, "Block", instance)
    await client.until(lambda: client.hints(buffer), lambda hints: hints.get(LINE) == "(5, 2)")
    assert await client.stop() == 0

    client, buffer = await open_net(start, tmp_path, "(5, 2)")
    titles = " ".join(text for _, text in await client.lenses(buffer))
    assert "recipe: Net(16)(torch.randn(5, 4)) · call site train.py:5 · 2 of 2 · chosen" in titles
    assert "narrow (+1 more): (5, 16) → (5, 2) · chosen" in titles
