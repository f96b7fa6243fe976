"""The scenarios: a text file for each feature, with its golden answers, played for clients of either encoding.

One server for each encoding plays them all, one after the other, each in a workspace folder of its own; only trust,
which cannot be taken back, asks for another one.
"""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from tests.support.acting import Actor
from tests.support.client import Abilities, Client, Encoding
from tests.support.fork_server import MARK
from tests.support.leftovers import await_gone
from tests.support.scenario import read_scenario

SCENARIOS = sorted((Path(__file__).parent / "scenarios").glob("*.txt"))
WRITES = "FXLSP_WRITE_SCENARIOS" in os.environ

pytestmark = pytest.mark.asyncio(loop_scope="module")


Trusting = Callable[[bool], Awaitable[Client]]


@pytest_asyncio.fixture(scope="module", loop_scope="module", params=["utf-16", "utf-8"])
async def client(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Trusting]:
    """A client of the server for a trusted workspace, which all share, or of a new one that is not trusted."""
    encoding: Encoding = request.param
    mark = uuid.uuid4().hex
    shared: list[Client] = []
    clients: list[Client] = []

    async def client_of(trusted: bool) -> Client:
        if trusted and shared:
            return shared[0]
        client = Client(Abilities(encoding, pulls=True, configuration=True))
        clients.append(client)
        if trusted:
            shared.append(client)
        options = {"trusted": trusted, "python": sys.executable}
        # Times of recordings are shown in the time zone of the user.
        variables = {MARK: mark, "TZ": "UTC"}
        await client.start([tmp_path_factory.mktemp("nowhere")], options, variables, os.getpid())
        return client

    yield client_of
    for each in clients:
        await each.stop()
    await_gone(mark)


@pytest.mark.parametrize("path", SCENARIOS, ids=lambda path: path.stem)
async def test_a_scenario_goes_as_written(client: Trusting, path: Path, tmp_path: Path) -> None:
    scenario = read_scenario(path)
    folder = tmp_path / "project"
    scenario.write_files(folder)
    editor = await client(scenario.is_trusted)
    await editor.move(folder, scenario.settings)
    check(path, scenario.text(await Actor(editor, folder, scenario).play()))


def check(path: Path, played: str) -> None:
    if WRITES:
        path.write_text(played, encoding="utf-8")
    else:
        assert words_of_any_torch(played) == words_of_any_torch(path.read_text(encoding="utf-8"))


def words_of_any_torch(text: str) -> str:
    """Leave out the operator's name, with which torch 2.15 begins the message of a matrix product."""
    return text.replace("addmm: ", "")
