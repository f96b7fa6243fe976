"""The same server over a TCP connection."""

from __future__ import annotations

import asyncio
import json
import re
import sys

from dev.rpc import Json
from tests.support.waiting import PATIENCE


async def exchange(reader: asyncio.StreamReader, writer: asyncio.StreamWriter, message: Json) -> Json:
    """Sends a request and returns its answer."""
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    writer.write(b"Content-Length: %d\r\n\r\n%b" % (len(body), body))
    while True:
        header = await reader.readuntil(b"\r\n\r\n")
        found = re.search(rb"Content-Length: (\d+)", header)
        assert found is not None
        answer = json.loads(await reader.readexactly(int(found[1])))
        if answer.get("id") == message["id"]:
            return answer


async def test_one_client_is_served_over_tcp_and_its_end_ends_the_server() -> None:
    command = [sys.executable, "-m", "fxlsp", "serve", "--tcp", "127.0.0.1:0"]
    process = await asyncio.create_subprocess_exec(*command, stderr=asyncio.subprocess.PIPE)
    assert process.stderr is not None
    announced = re.search(rb"\('127.0.0.1', (\d+)\)", await process.stderr.readline())
    assert announced is not None
    reader, writer = await asyncio.open_connection("127.0.0.1", int(announced[1]))
    params: Json = {"processId": None, "rootUri": None, "capabilities": {}}
    answer = await exchange(reader, writer, {"id": 1, "method": "initialize", "params": params})
    assert answer["result"]["serverInfo"]["name"] == "fxlsp"
    writer.close()
    assert await asyncio.wait_for(process.wait(), PATIENCE) == 1
