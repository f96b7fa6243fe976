"""Closed files of folders whose settings request problems of the whole workspace.

A file that defines a model, or in which a trace has a location, is read and analysed like an open one. Its models come
last in the plan.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Collection, Iterator
from concurrent.futures import Executor

from fxlsp.engine.index.index import Index, SymbolId
from fxlsp.engine.running.reconcile import reconcile
from fxlsp.engine.settings.settings import Settings
from fxlsp.engine.state.analysis import Analysis, analyse
from fxlsp.engine.state.cross_file_recipes import CrossFileRecipes, ReadText
from fxlsp.engine.state.recorded_recipes import Recordings
from fxlsp.engine.state.session import Session
from fxlsp.engine.state.snapshot import inside
from fxlsp.source.recipes.markdown_blocks import is_block
from fxlsp.source.text.class_kind import ClassKind
from fxlsp.source.text.documents import Document, read_document

MOST_FILES = 500
"""Limit of files; others of a larger workspace wait until they are opened, since planning takes time for each model."""

_log = logging.getLogger("fxlsp.engine")


class ClosedFiles:
    """Updates ``session.background`` and its models from the index and the settings."""

    def __init__(
        self,
        session: Session,
        executor: Executor,
        reader: Callable[[], ReadText],
        on_change: Callable[[frozenset[str]], None],
        recordings: Recordings,
    ) -> None:
        """
        Args:
            reader: returns a function that reads the present texts of workspace files.
            on_change: called with files that were added or removed.
            recordings: recorded runs.
        """
        self._session = session
        self._executor = executor
        self._reader = reader
        self._on_change = on_change
        self._traced_files: set[str] = set()
        """Files in which a trace has a location."""
        self._stale: set[str] = set()
        """Files to read, again or for the first time."""
        self._reading: asyncio.Task[None] | None = None
        self._recordings = recordings

    def update(self, changed: Collection[str] | None = None) -> None:
        """Add the files that are required now, and remove the others.

        Args:
            changed: files whose summary has changed; None if that may be all.
        """
        wanted = self._wanted()
        gone = frozenset(self._session.background.keys() - wanted)
        for path in gone:
            self._remove(path)
        self._stale &= wanted
        self._stale |= {path for path in wanted if path not in self._session.background}
        if changed is None:
            self._stale |= wanted
        else:
            self._stale |= {path for path in wanted & self._session.analyses.keys() if self._depends(path, changed)}
        if self._stale and self._reading is None:
            self._reading = asyncio.create_task(self._read())
            self._reading.add_done_callback(self._ended)
        if gone:
            self._on_change(gone)

    def files_written(self, paths: Collection[str]) -> None:
        """Read closed files again that were written or deleted."""
        self._stale |= self._session.background.keys() & set(paths)
        self.update(paths)

    def files_traced(self, paths: Collection[str]) -> None:
        """Add files in which a trace has a location."""
        new = {path for path in paths if path not in self._traced_files and self._is_wanted(path)}
        if new:
            self._traced_files |= new
            self.update(())

    @property
    def is_busy(self) -> bool:
        """Whether files are being read."""
        return self._reading is not None

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    def _wanted(self) -> set[str]:
        if not any(folder.settings.problems == "workspace" for folder in self._session.folders):
            return set()
        wanted = [
            path for path in (*sorted(self._traced_files), *_with_models(self._session.index)) if self._is_wanted(path)
        ]
        return set(wanted[:MOST_FILES])

    def _is_wanted(self, path: str) -> bool:
        folder = self._session.folder_of(path)
        is_asked_for = folder.settings.problems == "workspace" and inside(path, folder.path)
        return is_asked_for and path not in self._session.documents and not folder.settings.exclude(path)

    def _depends(self, path: str, changed: Collection[str]) -> bool:
        return not self._session.analyses[path].files_read.isdisjoint(changed)

    def _remove(self, path: str) -> None:
        self._session.drop_background(path)
        self._traced_files.discard(path)

    async def _read(self) -> None:
        loop, session = asyncio.get_running_loop(), self._session
        while self._stale:
            path = min(self._stale)
            self._stale.discard(path)
            settings, index, read = session.folder_of(path).settings, session.index, self._reader()
            arguments = (path, settings, index, read, self._recordings)
            found = await loop.run_in_executor(self._executor, _analysed, *arguments)
            if path in session.documents or path not in self._wanted():
                continue
            if found is None:
                self._remove(path)
            else:
                self._take(*found)
            self._on_change(frozenset({path}))

    def _take(self, document: Document, analysis: Analysis | None) -> None:
        self._session.set_background(document, analysis)
        if analysis is not None:
            reconcile(self._session, self._session.analyses[document.path])

    def _ended(self, task: asyncio.Task[None]) -> None:
        self._reading = None
        if not task.cancelled() and (error := task.exception()) is not None:
            _log.error("internal error in fxlsp: the workspace could not be read", exc_info=error)


def _with_models(index: Index) -> Iterator[str]:
    for path, summary in index.files.items():
        runs = (each for each in summary.definitions if each.takes_inputs)
        if not is_block(path) and any(index.kind_of(SymbolId(path, each.name)) is ClassKind.MODULE for each in runs):
            yield path


def _analysed(
    path: str, settings: Settings, index: Index, read: ReadText, recordings: Recordings
) -> tuple[Document, Analysis | None] | None:
    """Return a file's document on disk and its analysis; None if it cannot be read."""
    try:
        document = read_document(path).with_external_bases(index.external_bases(path))
    except (OSError, UnicodeDecodeError, SyntaxError):
        return None
    return document, analyse(document, settings, CrossFileRecipes(index, read), recordings)
