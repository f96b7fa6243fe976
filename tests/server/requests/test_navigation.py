"""Going about a model by its module calls, as an editor asks for it, in either position encoding."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from dev.rpc import Json
from tests.server.conftest import Start
from tests.support.client import Abilities, Buffer, Client, Encoding

PARTS = """\
from torch import nn


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(4, 4, 1)

    def forward(self, x):
        return self.conv(x) + x


class Double(nn.Module):
    def forward(self, x):
        "𝒳"; return x * 2
"""

NET = """\
import torch
from torch import nn
from parts import Block, Double


# fxlsp: Net()(torch.randn(2, 3, 8, 8))
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 4, 1)
        "𝒳𝒳"; self.layer = nn.Sequential(*[Block() for _ in range(3)])
        self.mixed = nn.ModuleList([Block(), Double()])

    def forward(self, x):
        x = self.stem(x)
        "𝒳𝒳"; x = self.layer(x)
        "𝒳𝒳"; x = self.layer[0](x)
        for block in self.mixed:
            x = block(x)
        return x
"""

ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16")
encodings = pytest.mark.parametrize("encoding", ENCODINGS)


async def traced(client: Client, folder: Path, *, with_parts: bool = False) -> Buffer:
    """The model's buffer, once it is traced; that of its parts is opened after that, if wanted."""
    (folder / "parts.py").write_text(PARTS, encoding="utf-8")
    buffer = client.open(folder / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    if with_parts:
        client.open(folder / "parts.py")
    return buffer


async def at(client: Client, method: str, buffer: Buffer, marked: str) -> Json:
    """The answer for the place of the bar in ``marked``."""
    before, _, after = marked.partition("|")
    offset = buffer.text.index(before + after) + len(before)
    return await client.ask(f"textDocument/{method}", buffer, position=client.position(buffer, offset))


def text_at(client: Client, folder: Path, uri: str, span: Json) -> tuple[str, str]:
    """The name of a file and what a range of it covers."""
    path = next(path for path in folder.iterdir() if path.as_uri() == uri)
    buffer = client.buffers.get(uri) or Buffer(uri, path.read_text(encoding="utf-8"))
    return path.name, client.covered(buffer, span)


@encodings
async def test_a_module_call_leads_to_the_forward_that_ran(start: Start, tmp_path: Path, encoding: Encoding) -> None:
    client = await start(Abilities(encoding))
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    buffer = await traced(client, tmp_path)
    (link,) = await at(client, "definition", buffer, "x = self.la|yer(x)")
    assert client.covered(buffer, link["originSelectionRange"]) == "layer"
    assert text_at(client, tmp_path, link["targetUri"], link["targetSelectionRange"]) == ("parts.py", "forward")
    links = await at(client, "definition", buffer, "x = self.layer[|0](x)")
    assert [text_at(client, tmp_path, each["targetUri"], each["targetSelectionRange"]) for each in links] == [
        ("parts.py", "forward"),
        ("net.py", "Block()"),
    ]
    links = await at(client, "implementation", buffer, "x = blo|ck(x)")
    assert [each["targetSelectionRange"]["start"]["line"] for each in links] == [8, 13]
    assert await at(client, "definition", buffer, "x = se|lf.layer(x)") is None


@encodings
async def test_places_in_an_open_file_follow_its_edits(start: Start, tmp_path: Path, encoding: Encoding) -> None:
    client = await start(Abilities(encoding))
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    buffer = await traced(client, tmp_path, with_parts=True)
    parts = client.buffers[(tmp_path / "parts.py").as_uri()]
    client.replace(parts, "class Block", "# 𝒳\nclass Block")
    (link,) = await at(client, "definition", buffer, "x = self.la|yer(x)")
    assert link["targetUri"] == parts.uri
    assert client.covered(parts, link["targetSelectionRange"]) == "forward"
    assert client.covered(parts, link["targetRange"]).endswith("return self.conv(x) + x")


async def test_an_editor_without_links_gets_locations(start: Start, tmp_path: Path) -> None:
    client = await start(Abilities(links=False))
    buffer = await traced(client, tmp_path)
    (location,) = await at(client, "definition", buffer, "x = self.la|yer(x)")
    assert text_at(client, tmp_path, location["uri"], location["range"]) == ("parts.py", "forward")
    assert cast(Json, await at(client, "implementation", buffer, "x = self.la|yer(x)")) == [location]


async def test_a_place_in_a_file_that_was_written_since_is_left_out(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = await traced(client, tmp_path)
    (tmp_path / "parts.py").write_text("\n" + PARTS, encoding="utf-8")
    assert await at(client, "definition", buffer, "x = self.la|yer(x)") is None
    changed = {"changes": [{"uri": (tmp_path / "parts.py").as_uri(), "type": 2}]}
    client.connection.notify("workspace/didChangeWatchedFiles", changed)
    (link,) = await client.until(lambda: at(client, "definition", buffer, "x = self.la|yer(x)"), bool)
    assert text_at(client, tmp_path, link["targetUri"], link["targetSelectionRange"]) == ("parts.py", "forward")


def outlined(client: Client, buffer: Buffer, symbols: list[Json], indent: str = "") -> list[str]:
    """The symbols as an indented list, each with what is selected; fails where one leaves the one above it."""
    lines: list[str] = []
    for each in symbols:
        whole, name = (client.covered(buffer, each[key]) for key in ("range", "selectionRange"))
        assert name in whole
        assert all(client.covered(buffer, child["range"]) in whole for child in each["children"])
        lines.append(f"{indent}{each['name']} | {each.get('detail', '')} | {name}")
        lines += outlined(client, buffer, each["children"], indent + "  ")
    return lines


@encodings
async def test_the_outline_holds_the_modules_of_a_traced_class(
    start: Start, tmp_path: Path, encoding: Encoding
) -> None:
    client = await start(Abilities(encoding))
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    buffer = await traced(client, tmp_path)
    assert outlined(client, buffer, await client.ask("textDocument/documentSymbol", buffer)) == [
        "Net |  | Net",
        "  forward |  | forward",
        "  stem | Conv2d · stem · (2, 4, 8, 8) | self.stem",
        "  layer | Sequential · layer · (2, 4, 8, 8) | self.layer",
        "    0 … 2 | 3 × Block · layer.0 … layer.2 · (2, 4, 8, 8) | Block()",
        "      conv | Conv2d · layer.0.conv · (2, 4, 8, 8) | Block()",
        "  mixed | ModuleList · mixed | self.mixed",
        "    0 | Block · mixed.0 · (2, 4, 8, 8) | Block()",
        "      conv | Conv2d · mixed.0.conv · (2, 4, 8, 8) | Block()",
        "    1 | Double · mixed.1 · (2, 4, 8, 8) | Double()",
    ]


@encodings
async def test_an_editor_that_knows_no_tree_gets_the_paths(start: Start, tmp_path: Path, encoding: Encoding) -> None:
    client = await start(Abilities(encoding, nested_symbols=False))
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    buffer = await traced(client, tmp_path)
    symbols = await client.ask("textDocument/documentSymbol", buffer)
    found = [(each["name"], each.get("containerName"), each["location"]["uri"]) for each in symbols]
    assert found[:4] == [
        ("Net", None, buffer.uri),
        ("forward", "Net", buffer.uri),
        ("stem", "Net", buffer.uri),
        ("layer", "Net", buffer.uri),
    ]
    assert client.covered(buffer, symbols[3]["location"]["range"]).startswith("self.layer = nn.Sequential(")
    assert [name for name, _, _ in found[4:6]] == ["layer.0", "layer.0.conv"]


async def symbols_named(client: Client, query: str) -> list[Json]:
    return list(await client.connection.request("workspace/symbol", {"query": query}))


@encodings
async def test_modules_are_found_by_their_path_in_the_workspace(
    start: Start, tmp_path: Path, encoding: Encoding
) -> None:
    client = await start(Abilities(encoding))
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    await traced(client, tmp_path)
    for query, name, place in [
        ("layer.0.conv", "Net.layer.0.conv", ("parts.py", "self.conv")),
        ("Net.layer", "Net.layer", ("net.py", "self.layer")),
        ("mx1", "Net.mixed.1", ("net.py", "Double()")),
    ]:
        found = (await symbols_named(client, query))[0]
        location = found["location"]
        assert (found["name"], text_at(client, tmp_path, location["uri"], location["range"])) == (name, place)


@encodings
@pytest.mark.parametrize("resolves", [True, False])
async def test_classes_of_files_that_are_not_open_are_found(
    start: Start, tmp_path: Path, encoding: Encoding, resolves: bool
) -> None:
    (tmp_path / "parts.py").write_text('"𝒳"\n' + PARTS, encoding="utf-8")
    client = await start(Abilities(encoding, resolves_symbols=resolves), trusted=False)
    # That a class of another file is a model is known once the workspace is indexed.
    buffer = client.open(tmp_path / "wide.py", "from parts import Block\n\n\nclass Wide(Block):\n    pass\n")
    await client.until(lambda: client.lenses(buffer), bool)
    (found,) = await symbols_named(client, "Block")
    assert ("range" in found["location"]) is not resolves
    found = await client.connection.request("workspaceSymbol/resolve", found) if resolves else found
    location = found["location"]
    assert text_at(client, tmp_path, location["uri"], location["range"]) == ("parts.py", "Block")


async def related(client: Client, method: str, item: Json) -> list[Json]:
    return list(await client.connection.request(f"callHierarchy/{method}", {"item": item}))


def calls_shown(client: Client, buffer: Buffer, calls: list[Json], end: str) -> list[tuple[str, str, list[str]]]:
    """Name and detail of the ends of some calls, and the expressions that call, all of them in ``buffer``."""
    return [
        (
            call[end]["name"],
            call[end]["detail"],
            [client.covered(buffer, each) for each in call["fromRanges"]],
        )
        for call in calls
    ]


@encodings
async def test_the_call_hierarchy_follows_module_calls(start: Start, tmp_path: Path, encoding: Encoding) -> None:
    client = await start(Abilities(encoding))
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    buffer = await traced(client, tmp_path)
    flow = "(2, 4, 8, 8) → (2, 4, 8, 8)"
    (net,) = await at(client, "prepareCallHierarchy", buffer, "class N|et")
    assert (net["name"], net["detail"]) == ("Net.forward", "(root): (2, 3, 8, 8) → (2, 4, 8, 8)")
    assert client.covered(buffer, net["selectionRange"]) == "forward"
    outgoing = await related(client, "outgoingCalls", net)
    assert calls_shown(client, buffer, outgoing, "to") == [
        ("stem", "Conv2d · stem: (2, 3, 8, 8) → (2, 4, 8, 8)", ["self.stem(x)"]),
        ("Block.forward", f"layer.0 (+4 more): {flow}", ["self.layer(x)", "self.layer[0](x)", "block(x)"]),
        ("Double.forward", f"mixed.1: {flow}", ["block(x)"]),
    ]
    block = outgoing[1]["to"]
    assert text_at(client, tmp_path, block["uri"], block["selectionRange"]) == ("parts.py", "forward")
    incoming = await related(client, "incomingCalls", block)
    assert [(name, places) for name, _, places in calls_shown(client, buffer, incoming, "from")] == [
        ("Net.forward", ["self.layer(x)", "self.layer[0](x)", "block(x)"])
    ]
    parts = client.open(tmp_path / "parts.py")
    (conv,) = await related(client, "outgoingCalls", block)
    assert text_at(client, tmp_path, conv["to"]["uri"], conv["to"]["selectionRange"]) == ("parts.py", "self.conv")
    assert [client.covered(parts, each) for each in conv["fromRanges"]] == ["self.conv(x)"]


@encodings
async def test_an_item_of_the_call_hierarchy_outlives_edits(start: Start, tmp_path: Path, encoding: Encoding) -> None:
    client = await start(Abilities(encoding))
    (tmp_path / "net.py").write_text(NET, encoding="utf-8")
    buffer = await traced(client, tmp_path)
    items = await at(client, "prepareCallHierarchy", buffer, "blo|ck(x)")
    assert [item["name"] for item in items] == ["Block.forward", "Double.forward"]
    (net,) = await at(client, "prepareCallHierarchy", buffer, "def for|ward")
    client.replace(buffer, "class Net", "# 𝒳\nclass Net")
    client.replace(buffer, "self.layer[0](x)", "self.layer[1](x)")
    (incoming,) = await related(client, "incomingCalls", items[0])
    assert client.covered(buffer, incoming["from"]["selectionRange"]) == "forward"
    places = [client.covered(buffer, each) for each in incoming["fromRanges"]]
    assert [each for each in places if "[" not in each] == ["self.layer(x)", "block(x)"]
    assert "Double.forward" in [call["to"]["name"] for call in await related(client, "outgoingCalls", net)]
    assert await at(client, "prepareCallHierarchy", buffer, "super()|.__init__") is None


async def test_an_editor_without_call_hierarchies_is_offered_none(start: Start, tmp_path: Path) -> None:
    client = await start(Abilities(call_hierarchy=False))
    assert "callHierarchyProvider" not in client.greeting["capabilities"]
    assert (await start(Abilities())).greeting["capabilities"]["callHierarchyProvider"] is True
