"""Random sessions on real files: whatever was typed and asked, at rest the server says what a fresh one would say.

``FXLSP_SESSIONS=20:60 pytest tests/server/test_random_sessions.py`` plays those of other seeds.
"""

from __future__ import annotations

import json
import os
import re
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from pathlib import Path
from random import Random

import pytest
import pytest_asyncio

from dev.rpc import Json
from tests.support.acting import VARYING
from tests.support.client import Abilities, Buffer, Client, Encoding
from tests.support.fork_server import MARK
from tests.support.leftovers import await_gone
from tests.support.random_edits import random_edit

pytestmark = pytest.mark.long

FILES = sorted((Path(__file__).parents[2] / "examples").glob("*.py"))
FIRST, LAST = map(int, os.environ.get("FXLSP_SESSIONS", "0:6").split(":"))
AT_PLACES = ("hover", "definition", "implementation", "prepareCallHierarchy")
TRACED = ("fresh", "covered")

Fresh = Callable[[Encoding], Awaitable[Client]]


@pytest_asyncio.fixture
async def fresh(tmp_path: Path) -> AsyncIterator[Fresh]:
    """Starts a server."""
    clients: list[Client] = []
    mark = uuid.uuid4().hex

    async def start(encoding: Encoding) -> Client:
        client = Client(Abilities(encoding, pulls=True))
        clients.append(client)
        await client.start([tmp_path], {"trusted": True, "python": sys.executable}, {MARK: mark}, os.getpid())
        return client

    yield start
    for client in clients:
        await client.stop()
    await_gone(mark)


@pytest.mark.parametrize("seed", range(FIRST, LAST))
async def test_at_rest_a_server_says_what_a_fresh_one_says(fresh: Fresh, tmp_path: Path, seed: int) -> None:
    random = Random(seed)
    encoding: Encoding = ("utf-8", "utf-16")[seed % 2]
    path = tmp_path / FILES[seed // 2 % len(FILES)].name
    path.write_text(FILES[seed // 2 % len(FILES)].read_text(encoding="utf-8"), encoding="utf-8")
    client = await fresh(encoding)
    buffer, texts = await play(random, client, path)
    facts = await client.rest()
    other = await fresh(encoding)
    twin = other.open(path, buffer.text)
    others_facts = await other.rest()
    if all(model["status"].startswith(TRACED) for model in others_facts["models"]) and others_facts["models"]:
        assert await answers(client, buffer) == await answers(other, twin)
    else:
        assert await places(client, buffer) == await places(other, twin)
        await texts_are_of_the_last_traces(client, buffer, facts, texts, fresh)


async def play(random: Random, client: Client, path: Path) -> tuple[Buffer, dict[int, str]]:
    """Opens a file, edits it and asks about it; the text of each version."""
    buffer = client.open(path)
    texts = {buffer.version: buffer.text}
    if random.random() < 0.8:
        await client.rest()
    for _ in range(random.randint(2, 8)):
        if random.random() < 0.25:
            type_whole(client, buffer, random.choice(list(texts.values())))
        else:
            start, end, new = random_edit(random, buffer.text)
            client.type(buffer, start, end, new)
        texts[buffer.version] = buffer.text
        for _ in range(random.randint(0, 3)):
            await ask_something(random, client, buffer)
        if random.random() < 0.3:
            await client.rest()
    if random.random() < 0.4:
        type_whole(client, buffer, texts[1].replace("import torch\n", "# grün 😀\nimport torch\n", 1))
        texts[buffer.version] = buffer.text
    return buffer, texts


def type_whole(client: Client, buffer: Buffer, new: str) -> None:
    """Goes over to another text by one edit, as undo does: what both begin and end with stays."""
    old = buffer.text
    start = common(old, new)
    left = common(old[start:][::-1], new[start:][::-1])
    client.type(buffer, start, len(old) - left, new[start : len(new) - left])


def plain(labels: Iterable[str]) -> set[str]:
    """Hints without the mark that other models make something else of the line."""
    return {label.replace(" …", "") for label in labels}


def common(one: str, other: str) -> int:
    """How many characters two texts begin with in common."""
    return next(
        (at for at, pair in enumerate(zip(one, other, strict=False)) if len({*pair}) > 1), len(min(one, other, key=len))
    )


async def ask_something(random: Random, client: Client, buffer: Buffer) -> None:
    if not buffer.text:
        return
    method = random.choice(["hints", "codeLens", "documentSymbol", *AT_PLACES])
    if method == "hints":
        await client.hints(buffer)
    elif method in AT_PLACES:
        position = client.position(buffer, random.randrange(len(buffer.text)))
        await client.ask(f"textDocument/{method}", buffer, position=position)
    else:
        await client.ask(f"textDocument/{method}", buffer)


async def answers(client: Client, buffer: Buffer) -> dict[str, Json]:
    """Everything that an editor would show of the document, without what differs between two runs."""
    end = client.position(buffer, len(buffer.text))
    everything = {"start": {"line": 0, "character": 0}, "end": end}
    found: dict[str, Json] = {
        "hints": await client.ask("textDocument/inlayHint", buffer, range=everything),
        "lenses": await client.ask("textDocument/codeLens", buffer),
        "symbols": await client.ask("textDocument/documentSymbol", buffer),
        "problems": (await client.ask("textDocument/diagnostic", buffer))["items"],
    }
    for name in re.finditer(r"\w+", buffer.text):
        position = client.position(buffer, name.start())
        for method in AT_PLACES:
            answer = await client.ask(f"textDocument/{method}", buffer, position=position)
            found[f"{method} {position['line'] + 1}:{position['character'] + 1} {name[0]}"] = answer
        cursor = {"start": position, "end": position}
        answer = await client.ask("textDocument/codeAction", buffer, range=cursor, context={"diagnostics": []})
        found[f"actions {position['line'] + 1}:{position['character'] + 1} {name[0]}"] = [
            {**each, "edit": _without_versions(each.get("edit"))} for each in answer
        ]
    return {key: json.loads(VARYING.sub(r"\1…", json.dumps(value, ensure_ascii=False))) for key, value in found.items()}


def _without_versions(edit: Json) -> Json:
    return None if edit is None else [change["edits"] for change in edit["documentChanges"]]


async def places(client: Client, buffer: Buffer) -> Json:
    """What the syntax alone decides: where the classes stand."""
    symbols = await client.ask("textDocument/documentSymbol", buffer)
    return [(each["name"], each["selectionRange"]) for each in symbols]


async def texts_are_of_the_last_traces(
    client: Client, buffer: Buffer, facts: Json, texts: dict[int, str], fresh: Fresh
) -> None:
    """What is shown although the newest text has no trace was said of a text that had one, and says that it is old."""
    path = buffer.path
    versions = {each["versions"][path] for each in facts["models"] if each["versions"]}
    shown = plain((await client.hints(buffer)).values())
    said: set[str] = set()
    for version in versions:
        earlier = await fresh(client.abilities.encoding)
        twin = earlier.open(Path(path), texts[version])
        await earlier.rest()
        said |= plain((await earlier.hints(twin)).values())
    assert shown <= said
    if all(not each["status"].startswith(TRACED) for each in facts["models"]):
        for name in re.finditer(r"\w+", buffer.text):
            position = client.position(buffer, name.start())
            hover = await client.ask("textDocument/hover", buffer, position=position)
            text = "" if hover is None else hover["contents"]["value"]
            assert "train mode" not in text or "of an earlier text" in text, text
