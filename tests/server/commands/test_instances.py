"""One class used in several places: which of its uses is shown, with the real torch."""

from __future__ import annotations

from pathlib import Path

from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client

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
    def __init__(self):
        super().__init__()
        self.wide = Block(4, 8)
        self.narrow = Block(8, 2)

    def forward(self, x):
        return self.narrow(self.wide(x))


net = Net()(torch.randn(3, 4))
"""
LINE = "return torch.relu(self.linear(x))"


async def hint(client: Client, buffer: Buffer, expected: str) -> None:
    """Waits for the hint behind the block's only expression."""
    hints = await client.until(lambda: client.hints(buffer), lambda hints: hints.get(LINE) == expected)
    assert hints[LINE] == expected


async def forward_lens(client: Client, buffer: Buffer) -> str:
    return next(text for line, text in await client.lenses(buffer) if line == "def forward(self, x):")


async def test_the_use_that_is_chosen_from_the_lens_is_shown_until_the_choice_is_taken_back(
    start: Start, tmp_path: Path
) -> None:
    client = await start(Abilities(encoding="utf-8"))
    buffer = client.open(tmp_path / "net.py", NET)
    await hint(client, buffer, "(3, 8) …")
    lenses = await client.ask("textDocument/codeLens", buffer)
    (lens,) = [each for each in lenses if each["command"]["title"].startswith("wide (+1 more)")]
    client.picks = ["2: Net · narrow"]
    await client.command(lens["command"]["command"], *lens["command"]["arguments"])
    await hint(client, buffer, "(3, 2)")
    assert await forward_lens(client, buffer) == "narrow (+1 more): (3, 8) → (3, 2) · chosen"
    assert (await client.hover(buffer, "self.linear(x)"))["contents"]["value"].startswith(
        "Linear(in_features=8, out_features=2, bias=True) · (3, 8) → (3, 2)"
    )
    client.picks = ["The first one"]
    await client.command("fxlsp.chooseInstance", buffer.uri, "Block")
    await hint(client, buffer, "(3, 8) …")


async def test_the_choice_outlives_an_edit_and_the_trace_after_it(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await hint(client, buffer, "(3, 8) …")
    listed = await client.command("fxlsp.instances", buffer.uri, "Block")
    assert [(each["text"], each["shapes"], each["chosen"]) for each in listed] == [
        ("Net · wide", "(3, 4) → (3, 8)", False),
        ("Net · narrow", "(3, 8) → (3, 2)", False),
    ]
    await client.command("fxlsp.chooseInstance", buffer.uri, "Block", listed[1]["id"])
    client.replace(buffer, "Block(8, 2)", "Block(8, 5)")
    await hint(client, buffer, "(3, 5)")


async def test_an_editor_is_requested_to_ask_again_when_another_use_is_chosen(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await hint(client, buffer, "(3, 8) …")
    client.heard.clear()
    (_, second) = await client.command("fxlsp.instances", buffer.uri, "Block")
    await client.command("fxlsp.chooseInstance", buffer.uri, "Block", second["id"])
    await client.until(lambda: methods(client), {"workspace/inlayHint/refresh", "workspace/codeLens/refresh"}.issubset)


async def test_what_is_not_there_any_more_is_reported(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await hint(client, buffer, "(3, 8) …")
    await client.command("fxlsp.chooseInstance", buffer.uri, "Block", "no such id")
    messages = [params["message"] for method, params in client.heard if method == "window/showMessage"]
    assert messages == ["That instance of Block is not there any more."]
    await hint(client, buffer, "(3, 8) …")


async def methods(client: Client) -> set[str]:
    return {method for method, _ in client.heard}
