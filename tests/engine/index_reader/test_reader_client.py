"""Reading of a workspace in a separate process, and its fallbacks."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from fxlsp.engine.connection.process import Process
from fxlsp.engine.index.index import Index
from fxlsp.engine.index.scan import read_index
from fxlsp.engine.index_reader.reader_client import IndexReader
from fxlsp.engine.running.engine import Engine
from fxlsp.engine.settings.exclusion import NOTHING, Exclusion
from tests.support.waiting import eventually_async

from ..conftest import worker

NET = "from torch import nn\nclass {}(nn.Module):\n    def forward(self, x): ...\n"
Read = Callable[..., IndexReader]


@pytest.fixture(autouse=True)
def cache_folder(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the cache folder of the test, which the index reader inherits."""
    folder = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(folder))
    return folder


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Process]:
    """Return a list to which each started process is added.

    Every workspace counts as large.
    """
    found: list[Process] = []
    start = Process.start

    async def starting(*args: Any) -> Process:
        process = await start(*args)
        found.append(process)
        return process

    monkeypatch.setattr(Process, "start", starting)
    monkeypatch.setattr("fxlsp.engine.index.scan._SMALL_BYTES", 0)
    return found


@pytest_asyncio.fixture
async def reading(tmp_path: Path) -> AsyncIterator[Read]:
    executor = ThreadPoolExecutor(2)

    def of(exclusion: Exclusion = NOTHING) -> IndexReader:
        return IndexReader(((str(tmp_path), exclusion),), executor)

    yield of
    executor.shutdown()


def write(folder: Path, **texts: str) -> None:
    for name, text in texts.items():
        (folder / f"{name}.py").write_text(text)


def names(index: Index) -> list[str]:
    return sorted(definition.name for offers in index.files.values() for definition in offers.definitions)


def dying(monkeypatch: pytest.MonkeyPatch, name: str = "dying_reader") -> None:
    monkeypatch.setattr("fxlsp.engine.index_reader.reader_client.READER", worker(name))


async def test_a_process_finds_what_the_server_would_cold_and_warm(
    tmp_path: Path, reading: Read, started: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path, a=NET.format("A"), b="import a\nnet = a.A()\n", c="x = 1\n", broken="import torch\nclass (:\n")
    (tmp_path / "README.md").write_text("```python\nfrom a import A\nA()\n```\n")
    cold, warm = await reading().index(), await reading().index()
    assert len(started) == 2
    assert cold.files == warm.files == read_index([str(tmp_path)]).files
    assert names(cold) == ["A"]


async def test_a_process_leaves_out_what_the_settings_exclude(
    tmp_path: Path, reading: Read, started: list[Process]
) -> None:
    write(tmp_path, kept=NET.format("A"), left=NET.format("B"))
    assert names(await reading(Exclusion(str(tmp_path), ("left.py",))).index()) == ["A"]
    assert len(started) == 1


async def test_no_process_is_started_where_there_is_little_to_read(
    tmp_path: Path, reading: Read, started: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert names(await reading().index()) == []
    monkeypatch.undo()
    write(tmp_path, a=NET.format("A"))
    assert names(await reading().index()) == ["A"]
    assert started == []


async def test_a_process_that_is_killed_is_started_again_and_everything_is_known(
    tmp_path: Path,
    reading: Read,
    started: list[Process],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    dying(monkeypatch)
    write(tmp_path, a=NET.format("A"), b="# dies once\n" + NET.format("B"), c=NET.format("C"))
    assert names(await reading().index()) == ["A", "B", "C"]
    assert len(started) == 2
    (message,) = (record.getMessage() for record in caplog.records if record.levelname == "WARNING")
    assert f"SIGKILL, as when the system runs out of memory, before it had parsed {tmp_path / 'b.py'}" in message


async def test_a_file_that_kills_the_process_each_time_is_left_out_and_said(
    tmp_path: Path,
    reading: Read,
    started: list[Process],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    dying(monkeypatch)
    write(tmp_path, a=NET.format("A"), b="# dies\n" + NET.format("B"), c=NET.format("C"))
    assert names(await reading().index()) == ["A", "C"]
    assert len(started) == 3
    assert f"{tmp_path / 'b.py'} is left out of the index" in caplog.text


async def test_files_that_keep_killing_the_process_are_never_parsed_in_the_server(
    tmp_path: Path, reading: Read, started: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    dying(monkeypatch)
    dies = "# dies\n" + NET
    write(tmp_path, a=dies.format("A"), b=dies.format("B"), c=NET.format("C"))
    assert names(await reading().index()) == ["C"]


@pytest.mark.parametrize("program", ["crashes", "hangs_up", "nonsense", "no_such_program"])
async def test_where_no_process_can_read_the_server_does(
    tmp_path: Path,
    reading: Read,
    started: list[Process],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    program: str,
) -> None:
    dying(monkeypatch, program)
    write(tmp_path, a=NET.format("A"))
    assert names(await reading().index()) == ["A"]
    assert "the server reads the workspace itself" in caplog.text


async def test_where_the_interpreter_is_unknown_the_server_reads(
    tmp_path: Path, reading: Read, started: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "executable", "")
    write(tmp_path, a=NET.format("A"))
    assert names(await reading().index()) == ["A"]
    assert started == []


async def test_a_reading_that_nobody_wants_any_more_leaves_no_process(
    tmp_path: Path, reading: Read, started: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    dying(monkeypatch)
    write(tmp_path, a="# waits\n" + NET.format("A"))
    task = asyncio.create_task(reading().index())
    await eventually_async((tmp_path / "a.py.seen").exists)
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert started[0].exit_code is not None


async def test_a_file_written_while_the_workspace_is_read_counts_as_it_is_now(
    tmp_path: Path, started: list[Process], monkeypatch: pytest.MonkeyPatch
) -> None:
    dying(monkeypatch)
    write(tmp_path, a=NET.format("Before"), b="# waits\n" + NET.format("B"))
    engine = Engine([str(tmp_path)])
    await eventually_async((tmp_path / "b.py.seen").exists)
    write(tmp_path, a=NET.format("Now"))
    engine.changed_on_disk([str(tmp_path / "a.py")])
    await eventually_async(lambda: names(engine.snapshot.index) == ["Now"])
    (tmp_path / "b.py.go").touch()
    await eventually_async(lambda: engine.is_idle)
    assert names(engine.snapshot.index) == ["B", "Now"]
    await engine.shutdown()
