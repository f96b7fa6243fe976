"""A server process for each test, and the promise that nothing of it is left behind."""

from __future__ import annotations

import os
import sys
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pytest
import pytest_asyncio

from dev.rpc import Json
from tests.server.client import Abilities, Client

MARK = "FXLSP_TEST_RUN"
GONE_WITHIN = 4.0
"""Seconds; the promise is two, on a machine that does nothing else."""


class Start(Protocol):
    """Starts a server for the test's folder."""

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


@pytest.fixture
def mark() -> str:
    """Stands in the environment of every process that the test starts."""
    return uuid.uuid4().hex


@pytest_asyncio.fixture
async def start(tmp_path: Path, mark: str) -> AsyncIterator[Start]:
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
        client = Client(abilities, settings, folder_settings)
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


def await_gone(mark: str) -> None:
    """Fails if a process of the test is left after the time that the server has to clean up."""
    deadline = time.monotonic() + GONE_WITHIN
    while left := processes(mark):
        if time.monotonic() > deadline:
            pytest.fail(f"processes are left: {left}")
        time.sleep(0.02)


def processes(mark: str) -> dict[int, str]:
    """The command lines of the running processes that carry the mark."""
    found: dict[int, str] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal() and int(folder.name) != os.getpid():
            environment, command = _read(folder / "environ"), _read(folder / "cmdline")
            if f"{MARK}={mark}".encode() in environment.split(b"\0"):
                found[int(folder.name)] = command.replace(b"\0", b" ").decode(errors="replace")
    return found


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError:
        return b""
