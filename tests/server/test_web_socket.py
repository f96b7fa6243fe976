"""The same server over a web socket."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from collections.abc import AsyncIterator

import pytest_asyncio
from websockets.asyncio.client import ClientConnection, connect

from dev.rpc import Json
from tests.support.waiting import PATIENCE

INITIALIZE: Json = {
    "id": 0,
    "method": "initialize",
    "params": {"processId": None, "rootUri": None, "capabilities": {"workspace": {"configuration": True}}},
}


@pytest_asyncio.fixture
async def process() -> AsyncIterator[asyncio.subprocess.Process]:
    command = [sys.executable, "-m", "fxlsp", "serve", "--ws", "127.0.0.1:0"]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    yield process
    if process.returncode is None:
        process.kill()
        await process.wait()


async def connected(process: asyncio.subprocess.Process) -> ClientConnection:
    assert process.stderr is not None
    announced = re.search(rb"\('127.0.0.1', (\d+)\)", await process.stderr.readline())
    assert announced is not None
    return await connect(f"ws://127.0.0.1:{int(announced[1])}", proxy=None)


async def send(connection: ClientConnection, *calls: Json) -> None:
    for call in calls:
        await connection.send(json.dumps({"jsonrpc": "2.0", **call}))


async def heard_until(connection: ClientConnection, number: int) -> list[Json]:
    """All that the server says before the answer to a request, and that answer."""
    heard: list[Json] = []
    while not heard or "result" not in heard[-1] or heard[-1].get("id") != number:
        heard.append(json.loads(await asyncio.wait_for(connection.recv(), PATIENCE)))
    return heard


async def test_one_client_is_served_over_a_web_socket_and_its_end_ends_the_server(
    process: asyncio.subprocess.Process,
) -> None:
    connection = await connected(process)
    await send(connection, INITIALIZE)
    *_, answer = await heard_until(connection, 0)
    assert answer["result"]["serverInfo"]["name"] == "fxlsp"
    await connection.close()
    assert await asyncio.wait_for(process.wait(), PATIENCE) == 1


async def test_it_ends_as_the_client_asks(process: asyncio.subprocess.Process) -> None:
    connection = await connected(process)
    await send(connection, INITIALIZE, {"method": "initialized", "params": {}})
    await send(connection, {"id": 1, "method": "shutdown", "params": None})
    await heard_until(connection, 1)
    await send(connection, {"method": "exit", "params": None})
    assert await asyncio.wait_for(process.wait(), PATIENCE) == 0


async def test_what_a_message_begins_comes_before_the_answer_to_the_next_though_both_arrive_at_once(
    process: asyncio.subprocess.Process,
) -> None:
    connection = await connected(process)
    await send(
        connection,
        INITIALIZE,
        {"method": "initialized", "params": {}},
        {"method": "workspace/didChangeConfiguration", "params": {"settings": None}},
        {"id": 1, "method": "workspace/executeCommand", "params": {"command": "fxlsp.information"}},
    )
    heard = await heard_until(connection, 1)
    # Once at the beginning, and once since they have changed.
    assert [call.get("method") for call in heard].count("workspace/configuration") == 2
    await connection.close()
