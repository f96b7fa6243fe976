"""Reads the folders of a session in a process of its own: parsing holds the GIL, and answers would wait for it."""

from __future__ import annotations

import asyncio
import gc
import logging
import sys
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Executor
from pathlib import Path
from threading import Event
from typing import Any, TypeVar

from fxlsp.engine.connection.crash_failures import describe_exit
from fxlsp.engine.connection.process import Process
from fxlsp.engine.index.index import Index
from fxlsp.engine.index.scan import is_small, read_index
from fxlsp.engine.index_reader.reader_protocol import ANSWERS, Parsing, ReadAll, SummariesRead, read_order
from fxlsp.engine.settings.exclusion import Exclusion
from fxlsp.engine.state.folders import combined_exclusion
from fxlsp.source.models.file_summary import FileSummary
from fxlsp.wire.frames import WireError

T = TypeVar("T")

READER = Path(__file__).resolve().parent / "reader_main.py"
"""Run by path, since what tells the server where its packages are is not there for another process."""

_MOST_DEATHS_A_FILE = 2
"""Deaths while the same file is parsed after which it is left out."""
_MOST_DEATHS = 4
"""Of one reading. Whatever ends its processes, they are not the way to read these folders then."""

_EXIT_SECONDS = 1.0
"""What a process has to end after its connection has."""

_log = logging.getLogger("fxlsp.engine")


class ReaderDiedError(Exception):
    """The process ended before it had read everything."""

    def __init__(self, message: str, parsing: str | None = None) -> None:
        """
        Args:
            parsing: the file that it was about to parse last, if any.
        """
        super().__init__(message)
        self.parsing = parsing


class IndexReader:
    """One reading of some folders, each given by its path and what is to be left out of it."""

    def __init__(self, folders: tuple[tuple[str, Exclusion], ...], executor: Executor) -> None:
        self._folders = folders
        self._paths_and_exclusion = [path for path, _ in folders], combined_exclusion(folders)
        self._executor = executor
        self._ended = Event()

    async def index(self) -> Index:
        """What the files offer. To be cancelled by whoever no longer wants it: no process of it is left then."""
        paths, is_excluded = self._paths_and_exclusion
        try:
            if await self._on_thread(is_small, paths, self._ended.is_set, is_excluded):
                return await self._index_on_thread()
            start = time.monotonic()
            index = await self._index_by_processes()
        finally:
            self._ended.set()
        _log.info("read %s in %.1f s: %d files count", ", ".join(paths), time.monotonic() - start, len(index.files))
        return index

    async def _index_by_processes(self) -> Index:
        deaths: Counter[str] = Counter()
        for _ in range(_MOST_DEATHS):
            try:
                return await self._index_by_process(
                    [path for path, count in deaths.items() if count >= _MOST_DEATHS_A_FILE]
                )
            except ReaderDiedError as death:
                _log.warning("%s", death)
                if death.parsing is None:
                    break
                deaths[death.parsing] += 1
                if deaths[death.parsing] == _MOST_DEATHS_A_FILE:
                    _log.warning("%s is left out of the index: parsing it ended the process twice", death.parsing)
        _log.warning("the server reads the workspace itself; its answers may take longer meanwhile")
        return await self._index_on_thread(deaths.keys())

    async def _index_by_process(self, left_out: Iterable[str]) -> Index:
        """
        Raises:
            ReaderDiedError: the process did not come to the end.
        """
        try:
            process = await Process.start(sys.executable or "", READER, self._executor)
        except OSError as error:
            raise ReaderDiedError(f"{sys.executable} cannot be started to read the workspace: {error}") from error
        try:
            process.stream.send(read_order(self._folders, left_out))
            return await self._receive_index(process)
        finally:
            await process.stop()

    async def _receive_index(self, process: Process) -> Index:
        files: dict[str, FileSummary] = {}
        parsing: str | None = None
        try:
            while (data := await process.stream.receive()) is not None:
                message = ANSWERS.parse(data)
                if isinstance(message, ReadAll):
                    return await self._on_thread(_make_index, files)
                if isinstance(message, Parsing):
                    parsing = message.path
                elif isinstance(message, SummariesRead):
                    files.update(await self._on_thread(_parse_summaries, message))
        except WireError as error:
            raise ReaderDiedError(f"the process that reads the workspace does not answer: {error}", parsing) from error
        raise ReaderDiedError(await _describe_death(process, parsing), parsing)

    async def _index_on_thread(self, left_out: Collection[str] = ()) -> Index:
        paths, is_excluded = self._paths_and_exclusion
        return await self._on_thread(
            read_index, paths, self._ended.is_set, is_excluded, lambda path: path not in left_out
        )

    async def _on_thread(self, function: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, function, *args)


def _parse_summaries(message: SummariesRead) -> dict[str, FileSummary]:
    found = {name: FileSummary.from_json(data) for name, data in message.files.items()}
    for summary in found.values():
        # The index asks for these of all files at once: bit by bit they are found while others are still read.
        summary.names_by_word  # noqa: B018
    gc.freeze()
    return found


def _make_index(files: Mapping[str, FileSummary]) -> Index:
    """As what it is made of, it is kept from the garbage collector, which would hold the GIL for as long as it takes to
    look at all of it, again and again. Nothing in it is part of a cycle, so what is replaced is freed all the same."""
    index = Index(files)
    gc.freeze()
    return index


async def _describe_death(process: Process, parsing: str | None) -> str:
    await process.wait(_EXIT_SECONDS)
    await process.drain_output()
    doing = f"before it had parsed {parsing}" if parsing else "before it had parsed anything"
    printed = f". Its last output: {process.tail[-1]}" if process.tail else ""
    return f"the process that reads the workspace ended with {describe_exit(process.exit_code)}, {doing}{printed}"
