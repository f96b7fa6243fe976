"""The command that shows a graph: what it writes, what it asks of the editor, and what it answers."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from dev.rpc import Json
from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client, Encoding

NET = """\
import torch
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(8, 8)

    def forward(self, x):
        return torch.relu(self.linear(x))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = Block()
        self.second = Block()

    def forward(self, x):
        é = self.first(x); y = self.second(é) + é
        return y


net = Net()(torch.randn(2, 8))
"""
LINE = "return torch.relu(self.linear(x))"


async def traced(start: Start, folder: Path, abilities: Abilities) -> tuple[Client, Buffer]:
    path = folder / "net.py"
    path.write_text(NET, encoding="utf-8")
    client = await start(abilities, environment={"XDG_CACHE_HOME": str(folder / "cache")})
    buffer = client.open(path)
    await client.until(lambda: client.hints(buffer), lambda hints: LINE in hints)
    return client, buffer


async def test_the_page_is_written_and_the_editor_is_asked_to_show_it(start: Start, tmp_path: Path) -> None:
    client, buffer = await traced(start, tmp_path, Abilities(shows_documents=True))
    answer = await client.command("fxlsp.showGraph", buffer.uri, "Net")
    page = Path(answer["path"])
    assert page.is_relative_to(tmp_path / "cache")
    assert b"second.linear" in await asyncio.to_thread(page.read_bytes)
    assert answer == {"path": str(page), "uri": page.as_uri(), "model": "Net", "node": None, "modulePath": None}
    (shown,) = client.said("window/showDocument")
    assert (shown["uri"], shown["external"]) == (answer["uri"], True)


async def test_the_lens_of_a_traced_class_shows_its_graph(start: Start, tmp_path: Path) -> None:
    client, buffer = await traced(start, tmp_path, Abilities(shows_documents=True))
    lenses = await client.ask("textDocument/codeLens", buffer)
    (command,) = [lens["command"] for lens in lenses if lens["command"]["title"] == "graph"]
    assert (await client.command(command["command"], *command["arguments"]))["model"] == "Net"


async def test_an_editor_that_shows_no_documents_gets_the_path_of_the_page(start: Start, tmp_path: Path) -> None:
    client, buffer = await traced(start, tmp_path, Abilities(shows_documents=False))
    answer = await client.command("fxlsp.showGraph", buffer.uri)
    assert client.said("window/showDocument") == []
    assert client.said("window/showMessage")[-1]["message"] == f"The graph is in {answer['path']}"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
async def test_what_is_asked_for_is_what_the_page_shows_first(start: Start, tmp_path: Path, encoding: Encoding) -> None:
    client, buffer = await traced(start, tmp_path, Abilities(encoding, shows_documents=True))

    async def shown_first(name: str | None, **options: Json) -> str:
        answer = await client.command("fxlsp.showGraph", buffer.uri, name, {**options, "show": False})
        assert answer["model"] == "Net"
        return str(answer["uri"].rpartition("#")[2])

    addition = client.position(buffer, NET.index("+ é"))
    call = client.position(buffer, NET.index("second(é)"))
    assert await shown_first(None, position=addition) == "node=add"
    assert await shown_first("Net", position=call) == "path=second"
    assert await shown_first("Net", node="second_linear") == "node=second_linear"
    # A class without a trace of its own is shown where it runs first.
    assert await shown_first("Block") == "path=first"
    assert client.said("window/showDocument") == []


async def test_a_click_leads_to_where_the_expression_is_now(start: Start, tmp_path: Path) -> None:
    client, buffer = await traced(start, tmp_path, Abilities())
    client.replace(buffer, "import torch\n", "# one\n# two\nimport torch\n")
    answer = await client.command("fxlsp.showGraph", buffer.uri, "Net")
    page = await asyncio.to_thread(Path(answer["path"]).read_text, encoding="utf-8")
    picture = json.loads(page.split('<script type="application/json" id="picture">')[1].partition("</script>")[0])
    (addition,) = (node for node in picture["nodes"] if node["name"] == "add")
    assert addition["place"]["line"] == NET[: NET.index("+ é")].count("\n") + 1 + 2


async def test_a_model_without_a_graph_is_reported_and_nothing_written(start: Start, tmp_path: Path) -> None:
    path = tmp_path / "net.py"
    path.write_text(NET.replace("nn.Linear(8, 8)", "nn.Linear(missing, 8)"), encoding="utf-8")
    client = await start(environment={"XDG_CACHE_HOME": str(tmp_path / "cache")})
    buffer = client.open(path)
    await client.until(lambda: client.lenses(buffer), lambda lenses: any("not traced: " in text for _, text in lenses))
    assert await client.command("fxlsp.showGraph", buffer.uri, "Net") is None
    assert client.said("window/showMessage")[-1]["message"].startswith("There is no graph of Net: not traced: ")
    told = client.count("window/showMessage")
    assert await client.command("fxlsp.showGraph", buffer.uri, "Net", {"show": False, "quiet": True}) is None
    assert client.count("window/showMessage") == told
    assert not (tmp_path / "cache" / "fxlsp" / "graphs").exists()
