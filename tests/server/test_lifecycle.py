"""Beginning and end of the server process."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from dev.rpc import Json, RpcError
from tests.server.conftest import Start
from tests.support.client import Abilities
from tests.support.leftovers import await_gone, processes
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.real

NET = """\
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 4)

    def forward(self, x):
        return self.fc(x)


# fxlsp: net(__import__("torch").randn(2, 3))
net = Net()
"""


async def test_goodbye_ends_it_with_code_0(start: Start) -> None:
    client = await start()
    assert await client.stop() == 0


async def test_it_says_what_it_can_do(start: Start) -> None:
    capabilities = (await start(Abilities("utf-8"))).greeting["capabilities"]
    assert capabilities["positionEncoding"] == "utf-8"
    assert capabilities["textDocumentSync"]["openClose"] is True
    assert capabilities["textDocumentSync"]["change"] == 2
    assert capabilities["codeLensProvider"] == {"resolveProvider": True}
    assert capabilities["inlayHintProvider"] == {"resolveProvider": True}
    commands = ["trust", "retrace", "restart", "recipes", "chooseRecipe", "writeRecipe"]
    commands += [
        "instances",
        "chooseInstance",
        "showGraph",
        "askFrontends",
        "record",
        "information",
        "copyComment",
        "copyTable",
    ]
    assert capabilities["executeCommandProvider"]["commands"] == [f"fxlsp.{command}" for command in commands]
    assert "diagnosticProvider" not in capabilities


async def test_problems_are_pulled_by_editors_that_can(start: Start) -> None:
    capabilities = (await start(Abilities(pulls=True))).greeting["capabilities"]
    assert capabilities["diagnosticProvider"]["interFileDependencies"] is True


async def test_each_page_of_an_editor_that_has_one_server_for_all_begins_with_its_own_greeting(
    start: Start, tmp_path: Path
) -> None:
    client = await start()
    text = NET.replace("nn.Linear(3, 4)", "nn.Linear(5, 4)")
    before = client.open(tmp_path / "net.py", text)
    await client.until(lambda: client.problems(before), bool)
    greeting = client.greeting

    await client.begin()
    assert client.greeting == greeting
    after = client.open(tmp_path / "net.py", text)
    assert await client.until(lambda: client.problems(after), bool) == before.problems
    client.replace(after, "5, 4", "3, 4")
    await client.until(lambda: client.hints(after), lambda hints: "return self.fc(x)" in hints)
    assert await client.stop() == 0


async def test_the_end_of_its_input_ends_it_and_its_processes(start: Start, tmp_path: Path, mark: str) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    assert len(processes(mark)) > 1
    client.connection.close_input()
    assert await client.ended() == 1
    await_gone(mark)


async def test_input_that_ends_within_a_message_ends_it_with_a_sentence(tmp_path: Path) -> None:
    server = await served(tmp_path, framed({"id": 1, "method": "shutdown", "params": None})[:-1])
    assert (server.code, server.said) == (1, "WARNING fxlsp.server: the editor left in the middle of a message\n")


async def test_its_input_may_be_a_file(tmp_path: Path) -> None:
    params: Json = {"processId": None, "rootUri": None, "capabilities": {}}
    calls = [("initialize", params), ("shutdown", None)]
    requests = [{"id": number, "method": method, "params": params} for number, (method, params) in enumerate(calls)]
    server = await served(tmp_path, b"".join(map(framed, [*requests, {"method": "exit", "params": None}])))
    assert (server.code, server.said) == (0, "")
    assert b'"serverInfo"' in server.answers


async def test_what_a_message_begins_comes_before_the_answer_to_the_next_though_both_arrive_at_once(
    tmp_path: Path,
) -> None:
    abilities = {"workspace": {"configuration": True}}
    calls: list[Json] = [
        {"id": 0, "method": "initialize", "params": {"processId": None, "rootUri": None, "capabilities": abilities}},
        {"method": "initialized", "params": {}},
        {"method": "workspace/didChangeConfiguration", "params": {"settings": None}},
        {"id": 1, "method": "workspace/executeCommand", "params": {"command": "fxlsp.information"}},
        {"id": 2, "method": "shutdown", "params": None},
        {"method": "exit", "params": None},
    ]
    server = await served(tmp_path, b"".join(map(framed, calls)))
    before, answer, _ = server.answers.partition(b'"atRest"')
    assert answer
    # Once at the beginning, and once since they have changed.
    assert before.count(b'"workspace/configuration"') == 2


class Served(NamedTuple):
    """What became of a server."""

    code: int | None
    answers: bytes
    said: str


def framed(message: Json) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    return b"Content-Length: %d\r\n\r\n%b" % (len(body), body)


async def served(tmp_path: Path, data: bytes) -> Served:
    """A server with a file for its input."""
    (tmp_path / "input").write_bytes(data)
    pipe = asyncio.subprocess.PIPE
    with (tmp_path / "input").open("rb") as file:
        command = [sys.executable, "-m", "fxlsp", "serve"]
        process = await asyncio.create_subprocess_exec(*command, stdin=file, stdout=pipe, stderr=pipe)
        answers, said = await asyncio.wait_for(process.communicate(), PATIENCE)
    return Served(process.returncode, answers, said.decode())


async def test_a_killed_server_leaves_no_process(start: Start, tmp_path: Path, mark: str) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", NET)
    await client.until(lambda: client.hints(buffer), bool)
    os.kill(client.connection.pid, signal.SIGKILL)
    await client.ended()
    await_gone(mark)


async def test_it_ends_when_the_editor_is_gone_though_its_input_stays_open(start: Start, mark: str) -> None:
    editor = await asyncio.create_subprocess_exec(sys.executable, "-c", "input()", stdin=asyncio.subprocess.PIPE)
    client = await start(process_id=editor.pid)
    editor.kill()
    await editor.wait()
    await client.ended()
    await_gone(mark)


async def test_what_user_code_prints_does_not_reach_the_editor(start: Start, tmp_path: Path) -> None:
    client = await start()
    buffer = client.open(tmp_path / "net.py", "print('hello')\n" + NET)
    assert "return self.fc(x)" in await client.until(lambda: client.hints(buffer), bool)


async def test_a_request_that_fails_is_answered_with_an_error_and_the_server_goes_on(start: Start) -> None:
    client = await start()
    with pytest.raises(RpcError, match=r"no\.such|Invalid"):
        await client.connection.request("workspace/executeCommand", {"command": "no.such"})
    assert await client.stop() == 0
