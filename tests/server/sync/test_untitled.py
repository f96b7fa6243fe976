"""Buffers that no file holds: they belong to the first folder of the workspace, or to none at all."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client, Encoding

NET = """\
import torch
from torch import nn


# fxlsp: Net()(torch.randn(2, 3))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 8)

    def forward(self, x):
        '😀'; y = self.fc(x)
        return y @ y
"""

CALL = "'😀'; y = self.fc(x)"


def open_as(client: Client, uri: str, text: str) -> Buffer:
    buffer = client.buffers[uri] = Buffer(uri, text)
    item = {"uri": uri, "languageId": "python", "version": 1, "text": text}
    client.connection.notify("textDocument/didOpen", {"textDocument": item})
    return buffer


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
@pytest.mark.parametrize("uri", ["untitled:Untitled-1", "vscode-notebook-cell:/folder/nb.ipynb#W0", "buffer:///1"])
async def test_a_buffer_without_a_file_shows_what_a_file_does(start: Start, uri: str, encoding: Encoding) -> None:
    client = await start(Abilities(encoding))
    buffer = open_as(client, uri, NET)
    await client.until(lambda: client.hints(buffer), lambda hints: hints.get(CALL) == "(2, 8)")
    hover = await client.hover(buffer, "self.fc(x)")
    assert client.covered(buffer, hover["range"]) == "self.fc(x)"
    assert any("FX" in title or "problem" in title for _, title in await client.lenses(buffer))
    problems = await client.until(lambda: client.problems(buffer), lambda found: found)
    assert [(each["code"], client.covered(buffer, each["range"])) for each in problems or ()] == [("FX401", "y @ y")]
    client.replace(buffer, "y @ y", "y * y")
    assert (await client.until(lambda: client.problems(buffer), lambda found: found == [])) == []


async def test_it_imports_what_the_first_folder_holds(start: Start, tmp_path: Path) -> None:
    (tmp_path / "sizes.py").write_text("width = 16\n")
    client = await start()
    buffer = open_as(
        client,
        "untitled:Untitled-1",
        NET.replace("8)", "width)").replace("import torch\n", "import torch\nfrom sizes import width\n", 1),
    )
    await client.until(lambda: client.hints(buffer), lambda hints: hints.get(CALL) == "(2, 16)")


async def test_it_needs_no_folder(start: Start) -> None:
    client = await start(folders=[])
    buffer = open_as(client, "untitled:Untitled-1", NET)
    await client.until(lambda: client.hints(buffer), lambda hints: hints.get(CALL) == "(2, 8)")
