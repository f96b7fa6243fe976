"""An editor that says of nothing that it can do it: what it lacks is replaced by what every editor has."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client

NET = """\
import torch
from torch import nn


# fxlsp: Net()(torch.randn(2, 3))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fcs = [nn.Linear(3, 3), nn.Linear(3, 4)]

    def forward(self, x):
        x = self.fcs[0](x)
        return self.fcs[1](x)
"""

BARE: Final = Abilities(anything=False)

EVERY_EDITOR_TAKES = {"textDocument/publishDiagnostics", "window/logMessage", "window/showMessage"}
"""What a server may send whatever the editor has said, and needs no answer."""


async def words(client: Client, buffer: Buffer, expression: str) -> str:
    """What a hover says, which is plain text."""
    hover = await client.hover(buffer, expression)
    if hover is None:
        return ""
    assert hover["contents"]["kind"] == "plaintext"
    return str(hover["contents"]["value"])


async def traced(start: Start, folder: Path) -> tuple[Client, Buffer]:
    client = await start(BARE)
    buffer = client.open(folder / "net.py", NET)
    await client.until(lambda: client.problems(buffer), bool)
    return client, buffer


async def test_a_hover_on_the_class_says_what_its_lens_would(start: Start, tmp_path: Path) -> None:
    client, buffer = await traced(start, tmp_path)
    told = await words(client, buffer, "Net(nn.Module)")
    for part in ("4 nodes", "0 parameters", "not traceable", "Net()(torch.randn(2, 3))", "comment on line 5"):
        assert part in told


async def test_a_hover_on_the_expression_says_what_its_hint_would_in_plain_text(start: Start, tmp_path: Path) -> None:
    client, buffer = await traced(start, tmp_path)
    told = await words(client, buffer, "self.fcs[1](x)")
    assert "(2, 3) → (2, 4)" in told
    assert "`" not in told


async def test_a_hover_on_the_class_says_that_nothing_is_traced_before_the_workspace_is_trusted(
    start: Start, tmp_path: Path
) -> None:
    client = await start(BARE, trusted=False)
    buffer = client.open(tmp_path / "net.py", NET)
    assert "trust" in await client.until(lambda: words(client, buffer, "Net(nn.Module)"), bool)


async def test_it_gets_the_place_of_the_graph(start: Start, tmp_path: Path) -> None:
    client, buffer = await traced(start, tmp_path)
    page = await client.command("fxlsp.showGraph", buffer.uri, "Net")
    (said,) = client.said("window/showMessage")
    assert page["path"] in said["message"]


async def test_nothing_is_asked_of_it(start: Start, tmp_path: Path) -> None:
    client, buffer = await traced(start, tmp_path)
    client.replace(buffer, "nn.Linear(3, 4)", "nn.Linear(3, 5)")
    await client.rest()
    assert "(2, 5)" in await words(client, buffer, "self.fcs[1](x)")
    await client.command("fxlsp.showGraph", buffer.uri, "Net")
    assert {method for method, _ in client.heard} <= EVERY_EDITOR_TAKES
    assert client.count("textDocument/publishDiagnostics") > 0


async def test_settings_that_it_sends_count(start: Start, tmp_path: Path) -> None:
    client, buffer = await traced(start, tmp_path)
    settings = {"fxlsp": {"ignore": ["FX201", "FX601"]}}
    client.connection.notify("workspace/didChangeConfiguration", {"settings": settings})
    await client.until(lambda: client.problems(buffer), lambda found: found == [])
