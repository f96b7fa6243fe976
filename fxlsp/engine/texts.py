"""Takes texts into a session: those of open documents as they are typed, those of other files as they are written."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any

from fxlsp.engine.acceptance import coverage
from fxlsp.engine.analysis import Analysis, analyse
from fxlsp.engine.reconciling import reconcile
from fxlsp.engine.session import Session
from fxlsp.source.documents import Document, read_document

_SHORT_TEXT = 20_000
"""Characters; analysing less takes a few milliseconds, and goes without a detour over a thread."""

_log = logging.getLogger("fxlsp.engine")


class Texts:
    """Analyses texts; of several of one file only the newest counts."""

    def __init__(self, session: Session, executor: Executor, on_known: Callable[[str], None]) -> None:
        """
        Args:
            on_known: called with a path once its newest text has been taken into the session later than in the call
                that announced it.
        """
        self._session = session
        self._executor = executor
        self._on_known = on_known
        self._analysing: dict[str, asyncio.Task[None]] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}

    def arrived(self, document: Document) -> bool:
        """Takes the present text of an open document. True if that is done, False if ``on_known`` will tell."""
        if document.path in self._analysing:
            return False
        if len(document.text) > _SHORT_TEXT:
            self._run(self._analysing, document.path, self._analyse_on_thread(document.path))
            return False
        self._take(document, analyse(document, self._session.folder_of(document.path).settings))
        return True

    def written(self, path: str) -> None:
        """Compares a file that is not open, and that somebody may have changed, with what traces read of it."""
        if any(path in attempt.texts for attempt in self._session.attempts.values()):
            previous = self._reading.get(path)
            if previous is not None:
                previous.cancel()
            self._run(self._reading, path, self._read_on_thread(path))

    async def close(self) -> None:
        tasks = (*self._analysing.values(), *self._reading.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _analyse_on_thread(self, path: str) -> None:
        loop = asyncio.get_running_loop()
        while (document := self._session.documents.get(path)) is not None:
            settings = self._session.folder_of(path).settings
            analysis = await loop.run_in_executor(self._executor, analyse, document, settings)
            if self._session.documents.get(path) is document:
                self._take(document, analysis)
                self._on_known(path)
                return

    async def _read_on_thread(self, path: str) -> None:
        document = await asyncio.get_running_loop().run_in_executor(self._executor, _read, path)
        if path not in self._session.documents:
            self._session.on_disk[path] = document
            self._session.remember_form(document)
            self._on_known(path)

    def _take(self, document: Document, analysis: Analysis | None) -> None:
        session, path = self._session, document.path
        session.remember_form(document)
        if analysis is None:
            session.unparsed.add(path)
            return
        session.unparsed.discard(path)
        if path not in session.analyses:
            self._find_covered(document)
        session.analyses[path] = analysis
        reconcile(session, analysis)

    def _find_covered(self, document: Document) -> None:
        """Reports that were there before the document was opened may cover its models."""
        for key, state in self._session.states.items():
            if state.report is not None and document.path in state.texts:
                found = coverage(state.report, state.texts, {document.path: document}, key)
                self._session.covers[key] = {**self._session.covers.get(key, {}), **found}

    def _run(self, tasks: dict[str, asyncio.Task[None]], path: str, work: Coroutine[Any, Any, None]) -> None:
        def ended(task: asyncio.Task[None]) -> None:
            if tasks.get(path) is task:
                del tasks[path]
            if not task.cancelled() and (error := task.exception()) is not None:
                _log.error("%s could not be read, which is a mistake of fxlsp's own", path, exc_info=error)

        tasks[path] = asyncio.create_task(work)
        tasks[path].add_done_callback(ended)


def _read(path: str) -> Document:
    """The document of a file, empty if there is none, with everything computed that a comparison needs."""
    try:
        document = read_document(path)
    except (OSError, UnicodeDecodeError, SyntaxError):
        document = Document("", path, None, "")
    document.normalized  # noqa: B018
    return document
