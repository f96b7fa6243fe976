"""Updates of the session's index from folders, open documents and files on disk."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Executor
from typing import Any

from fxlsp.engine.index.scan import file_summaries
from fxlsp.engine.index_reader.reader_client import IndexReader
from fxlsp.engine.settings.exclusion import Exclusion
from fxlsp.engine.state.session import Session
from fxlsp.source.models.file_summary import FileSummary, file_summary_of
from fxlsp.source.recipes.markdown_blocks import SUFFIX, file_of, is_block
from fxlsp.source.text.documents import Document
from fxlsp.source.text.notebooks.ipynb import is_notebook

_log = logging.getLogger("fxlsp.engine")


class Indexer:
    """Reads files on a thread, and stores their summaries in the session on the loop."""

    def __init__(
        self, session: Session, executor: Executor, on_change: Callable[[frozenset[str] | None], None]
    ) -> None:
        """
        Args:
            on_change: called after the index has changed, with the files whose summary is another one; with None after
                all folders were read.
        """
        self._session = session
        self._executor = executor
        self._on_change = on_change
        self._folders: tuple[tuple[str, Exclusion], ...] = ()
        self._reading: asyncio.Task[None] | None = None
        """Reading of the folders."""
        self._written_while_reading: set[str] = set()
        """Files that the running reading of the folders may have read before they were written."""
        self._tasks: set[asyncio.Task[None]] = set()

    def update_folders(self) -> None:
        """Read the folders of the session, unless they and their exclusions are unchanged."""
        folders = tuple((folder.path, folder.settings.exclude) for folder in self._session.folders if folder.path)
        if folders != self._folders:
            self._folders = folders
            self._session.start_indexing()
            if self._reading is not None:
                self._reading.cancel()
            self._reading = self._run(self._read_folders(folders))

    def document_parsed(self, document: Document) -> bool:
        """Store the summary of a document whose text parses; return whether it changed."""
        return not self._session.is_excluded(document.path) and self._session.update_index(
            document.path, file_summary_of(document)
        )

    def files_written(self, paths: Iterable[str]) -> None:
        """Read closed files again that were written or deleted."""
        changed = [path for path in paths if _is_read(path) and not self._session.is_excluded(path)]
        if changed:
            self._run(self._read_files(changed))
        if self._reading is not None and not self._reading.done():
            self._written_while_reading.update(changed)

    @property
    def is_busy(self) -> bool:
        """Whether files are being read."""
        return bool(self._tasks)

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _read_folders(self, folders: tuple[tuple[str, Exclusion], ...]) -> None:
        self._session.set_index(await IndexReader(folders, self._executor).index())
        if self._written_while_reading:
            self._run(self._read_files(sorted(self._written_while_reading)))
            self._written_while_reading.clear()
        for analysis in self._session.analyses.values():
            self.document_parsed(analysis.document)
        self._on_change(None)

    async def _read_files(self, paths: list[str]) -> None:
        summaries = await asyncio.get_running_loop().run_in_executor(self._executor, _summaries_of_files, paths)
        gone = {name: None for name in self._session.index.files if is_block(name) and file_of(name) in paths}
        for name, each in {**gone, **summaries}.items():
            if name not in self._session.documents:
                self._session.update_index(name, each)
        # All changed paths are passed, since recipes may come from their texts too.
        self._on_change(frozenset({*gone, *summaries, *paths}))

    def _run(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("internal error in fxlsp: the workspace could not be read", exc_info=error)


def _is_read(path: str) -> bool:
    return path.endswith((".py", SUFFIX)) or is_notebook(path)


def _summaries_of_files(paths: list[str]) -> dict[str, FileSummary | None]:
    return {name: summary for path in paths for name, summary in file_summaries(path).items()}
