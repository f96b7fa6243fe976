"""The process that reads a large workspace: it goes with the server, and the server goes on without it."""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from pathlib import Path

import pytest

from dev.rpc import Json
from tests.server.conftest import Start
from tests.support.client import Client
from tests.support.leftovers import await_gone, processes
from tests.support.waiting import eventually_async

pytestmark = pytest.mark.real

FILES = 60


@pytest.fixture
def environment(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, str]:
    """Nothing is known of the workspace from before."""
    return {"XDG_CACHE_HOME": str(tmp_path_factory.mktemp("cache"))}


def write(folder: Path) -> None:
    """Models that take some seconds to parse."""
    method = "    def method{0}(self, x):\n        return self.a(x) + self.b[{0}](x, y=[x, {0}])\n"
    body = "".join(method.format(number) for number in range(500))
    for number in range(FILES):
        text = (
            f"from torch import nn\n\n\nclass Net{number}(nn.Module):\n{body}    def forward(self, x):\n        pass\n"
        )
        (folder / f"net{number}.py").write_text(text)


async def reader_of(mark: str) -> int:
    """The process id of what reads the workspace, once it is there."""
    found: list[int] = []

    def is_there() -> bool:
        found[:] = [pid for pid, command in processes(mark).items() if "reader_main.py" in command]
        return bool(found)

    await eventually_async(is_there, "no process reads")
    return found[0]


async def symbols(client: Client) -> list[Json]:
    found: list[Json] = await client.connection.request("workspace/symbol", {"query": "Net"})
    return found


async def test_a_killed_server_leaves_no_process_that_reads(
    start: Start, tmp_path: Path, mark: str, environment: Mapping[str, str]
) -> None:
    write(tmp_path)
    client = await start(environment=environment)
    await reader_of(mark)
    os.kill(client.connection.pid, signal.SIGKILL)
    await client.ended()
    await_gone(mark)


async def test_goodbye_ends_what_reads(start: Start, tmp_path: Path, mark: str, environment: Mapping[str, str]) -> None:
    write(tmp_path)
    client = await start(environment=environment)
    await reader_of(mark)
    assert await client.stop() == 0
    await_gone(mark)


async def test_the_workspace_is_known_although_what_reads_it_was_killed(
    start: Start, tmp_path: Path, mark: str, environment: Mapping[str, str]
) -> None:
    write(tmp_path)
    client = await start(environment=environment)
    os.kill(await reader_of(mark), signal.SIGKILL)
    await client.rest()
    assert {f"Net{number}" for number in range(FILES)} <= {symbol["name"] for symbol in await symbols(client)}
    (message,) = (params["message"] for method, params in client.heard if "the process that reads" in str(params))
    assert "ended with SIGKILL" in message


async def test_a_small_workspace_is_read_without_a_process(start: Start, tmp_path: Path, mark: str) -> None:
    (tmp_path / "net.py").write_text("from torch import nn\n\n\nclass Net(nn.Module):\n    def forward(self, x): ...\n")
    client = await start(trusted=False)
    await client.rest()
    assert [symbol["name"] for symbol in await symbols(client)] == ["Net"]
    assert list(processes(mark)) == [client.connection.pid]
