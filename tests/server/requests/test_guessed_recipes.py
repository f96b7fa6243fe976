"""Guessed recipes while a model is edited, as the lens above it shows them."""

from __future__ import annotations

from pathlib import Path

from tests.server.conftest import Start
from tests.support.client import Buffer, Client

NET = """\
from torch import nn

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.fc = nn.Conv2d(3, 16, 3), nn.Linear(400, 4)

    def forward(self, x):
        return self.fc(self.conv(x).flatten(1))
"""


async def recipe(client: Client, buffer: Buffer) -> str:
    """Return the text of the lens with the recipe; nothing before there is one."""
    titles = [title for _, title in await client.lenses(buffer)]
    return next((title for title in titles if title.startswith("recipe: ")), "")


async def test_an_undone_edit_brings_back_the_inputs_and_one_that_changes_them_says_so(
    start: Start, tmp_path: Path
) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    before = await client.until(lambda: recipe(client, buffer), bool)
    assert before == "recipe: Net()(torch.randn(2, 3, 7, 7)) · guess"
    client.replace(buffer, "Conv2d(3,", "Conv2d(4,")
    changed = "recipe: Net()(torch.randn(2, 4, 7, 7)) · guess, was torch.randn(2, 3, 7, 7)"
    await client.until(lambda: recipe(client, buffer), lambda text: text == changed)
    client.replace(buffer, "Conv2d(4,", "Conv2d(3,")
    await client.until(lambda: recipe(client, buffer), lambda text: text == before)


async def test_inputs_stay_until_a_trace_is_requested(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    before = await client.until(lambda: recipe(client, buffer), bool)
    client.replace(buffer, "400", "576")
    (problem,) = await client.until(lambda: client.problems(buffer), bool) or []
    assert problem["message"].startswith("With other inputs this may work: ")
    assert await recipe(client, buffer) == before
    await client.command("fxlsp.retrace", buffer.uri)
    await client.until(lambda: recipe(client, buffer), lambda text: "torch.randn(2, 3, 8, 8)" in text)
    await client.until(lambda: client.problems(buffer), lambda problems: not problems)
