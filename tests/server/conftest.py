"""A server process for each test, and a check that no process of it is left."""

from __future__ import annotations

import os
import sys
import uuid
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pytest
import pytest_asyncio

from dev.rpc import Json
from tests.support.client import Abilities, Client
from tests.support.fork_server import MARK
from tests.support.leftovers import await_gone


class Start(Protocol):
    """Function that starts a server for the test's folder."""

    def __call__(
        self,
        abilities: Abilities = ...,
        *,
        trusted: bool = ...,
        options: Mapping[str, Json] = ...,
        settings: Mapping[str, Json] = ...,
        environment: Mapping[str, str] = ...,
        process_id: int | None = ...,
        folders: Sequence[Path] | None = ...,
        folder_settings: Mapping[str, Mapping[str, Json]] = ...,
    ) -> Awaitable[Client]: ...


@pytest.fixture(scope="session", autouse=True)
def forked(warm: None) -> None:
    """Have the supervisors of these servers forked from the warm process."""


@pytest.fixture
def mark() -> str:
    """Return the value of :data:`MARK` in the environment of all processes of a test."""
    return uuid.uuid4().hex


@pytest_asyncio.fixture
async def start(request: pytest.FixtureRequest, tmp_path: Path, mark: str) -> AsyncIterator[Start]:
    """Yield a function that starts a server, stopped at the end.

    Supervisors come from the warm process, but for tests that are marked ``real``.
    """
    warm = request.node.get_closest_marker("real") is None
    clients: list[Client] = []

    async def start_one(
        abilities: Abilities = Abilities(),  # noqa: B008  # immutable
        *,
        trusted: bool = True,
        options: Mapping[str, Json] = {},  # never changed
        settings: Mapping[str, Json] = {},
        environment: Mapping[str, str] = {},
        process_id: int | None = None,
        folders: Sequence[Path] | None = None,
        folder_settings: Mapping[str, Mapping[str, Json]] = {},
    ) -> Client:
        client = Client(abilities, settings, folder_settings, warm=warm)
        clients.append(client)
        given = {"trusted": trusted, "python": sys.executable, **options}
        await client.start(
            [tmp_path] if folders is None else folders, given, {MARK: mark, **environment}, process_id or os.getpid()
        )
        return client

    yield start_one
    for client in clients:
        if client.is_running:
            await client.stop()
    await_gone(mark)
