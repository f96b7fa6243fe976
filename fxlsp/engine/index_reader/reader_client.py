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
from fxlsp.engine.index.scan import is_little, read_index
from fxlsp.engine.index_reader.reader_protocol import ANSWERS, OffersRead, Parsing, ReadAll, order
from fxlsp.engine.settings.exclusion import Exclusion
from fxlsp.engine.state.folders import exclusion_in
from fxlsp.source.models.file_summary import FileSummary
from fxlsp.wire.frames import WireError

T = TypeVar("T")

READER = Path(__file__).resolve().parent / "reader_main.py"
"""Run by path, since what tells the server where its packages are is not there for another process."""

_DEADLY = 2
"""Deaths while the same file is parsed after which it is left out."""
_MOST_DEATHS = 4
"""Of one reading. Whatever ends its processes, they are not the way to read these folders then."""

_LAST_SECONDS = 1.0
"""What a process has to end after its connection has."""

_log = logging.getLogger("fxlsp.engine")


class ReaderDiedError(Exception):
    """The process ended before it had read everything."""

    def __init__(self, words: str, parsing: str | None = None) -> None:
        """
        Args:
            parsing: the file that it was about to parse last, if any.
        """
        super().__init__(words)
        self.parsing = parsing


class Reading:
    """One reading of some folders, each given by its path and what is to be left out of it."""

    def __init__(self, folders: tuple[tuple[str, Exclusion], ...], executor: Executor) -> None:
        self._folders = folders
        self._where = [path for path, _ in folders], exclusion_in(folders)
        self._executor = executor
        self._ended = Event()

    async def index(self) -> Index:
        """What the files offer. To be cancelled by whoever no longer wants it: no process of it is left then."""
        try:
            paths, is_excluded = self._where
            if await self._on_thread(is_little, paths, self._ended.is_set, is_excluded):
                return await self._in_thread()
            began = time.monotonic()
            index = await self._by_processes()
        finally:
            self._ended.set()
        places = ", ".join(path for path, _ in self._folders)
        _log.info("read %s in %.1f s: %d files count", places, time.monotonic() - began, len(index.files))
        return index

    async def _by_processes(self) -> Index:
        deaths: Counter[str] = Counter()
        for _ in range(_MOST_DEATHS):
            try:
                return await self._by_process([path for path, count in deaths.items() if count >= _DEADLY])
            except ReaderDiedError as death:
                _log.warning("%s", death)
                if death.parsing is None:
                    break
                deaths[death.parsing] += 1
                if deaths[death.parsing] == _DEADLY:
                    _log.warning("%s is not parsed any more: nobody learns what it offers", death.parsing)
        _log.warning("the workspace is read in the server itself, whose answers may take longer meanwhile")
        return await self._in_thread(deaths.keys())

    async def _by_process(self, left_out: Iterable[str]) -> Index:
        """
        Raises:
            ReaderDiedError: the process did not come to the end.
        """
        try:
            process = await Process.start(sys.executable or "", READER, self._executor)
        except OSError as error:
            raise ReaderDiedError(f"{sys.executable} cannot be started to read the workspace: {error}") from error
        try:
            process.channel.send(order(self._folders, left_out))
            return await self._answered(process)
        finally:
            await process.stop()

    async def _answered(self, process: Process) -> Index:
        files: dict[str, FileSummary] = {}
        parsing: str | None = None
        try:
            while (data := await process.channel.receive()) is not None:
                message = ANSWERS.parse(data)
                if isinstance(message, ReadAll):
                    return await self._on_thread(_index_of, files)
                if isinstance(message, Parsing):
                    parsing = message.path
                elif isinstance(message, OffersRead):
                    files.update(await self._on_thread(_offers_in, message))
        except WireError as error:
            raise ReaderDiedError(f"the process that reads the workspace does not answer: {error}", parsing) from error
        raise ReaderDiedError(await _words_of_death(process, parsing), parsing)

    async def _in_thread(self, left_out: Collection[str] = ()) -> Index:
        paths, is_excluded = self._where
        return await self._on_thread(
            read_index, paths, self._ended.is_set, is_excluded, lambda path: path not in left_out
        )

    async def _on_thread(self, function: Callable[..., T], *args: Any) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._executor, function, *args)


def _offers_in(message: OffersRead) -> dict[str, FileSummary]:
    found = {name: FileSummary.from_json(data) for name, data in message.files.items()}
    for offers in found.values():
        # The index asks for these of all files at once: bit by bit they are found while others are still read.
        offers.names_by_word  # noqa: B018
    gc.freeze()
    return found


def _index_of(files: Mapping[str, FileSummary]) -> Index:
    """As what it is made of, it is kept from the garbage collector, which would hold the GIL for as long as it takes to
    look at all of it, again and again. Nothing in it is part of a cycle, so what is replaced is freed all the same."""
    index = Index(files)
    gc.freeze()
    return index


async def _words_of_death(process: Process, parsing: str | None) -> str:
    await process.wait(_LAST_SECONDS)
    await process.drain_output()
    doing = f"before it had parsed {parsing}" if parsing else "before it had parsed anything"
    printed = f". Its last output: {process.tail[-1]}" if process.tail else ""
    return f"the process that reads the workspace ended with {describe_exit(process.exit_code)}, {doing}{printed}"
