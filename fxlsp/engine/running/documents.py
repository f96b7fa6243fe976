"""Analysis of texts: of open documents as they are typed, of files as written."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from typing import Any

from fxlsp.engine.running.apply_outcome import coverage
from fxlsp.engine.running.file_cache import FileCache
from fxlsp.engine.running.reconcile import reconcile
from fxlsp.engine.state.analysis import Analysis, analyse
from fxlsp.engine.state.cross_file_recipes import CrossFileRecipes, ReadText
from fxlsp.engine.state.recorded_recipes import Recordings
from fxlsp.engine.state.session import Session
from fxlsp.source.text.documents import Document, read_document

_TINY_TEXT = 2_000
"""Limit in characters; analysing less takes two or three milliseconds and is done on the loop, not on a thread."""
_SHORT_TEXT = 20_000
"""Limit in characters; deciding whether less is another program takes as long."""

_log = logging.getLogger("fxlsp.engine")


class DocumentAnalyzer:
    """Analyses texts; of several texts of one file only the newest counts."""

    def __init__(
        self,
        session: Session,
        executor: Executor,
        on_analysis: Callable[[str], None],
        on_program_changed: Callable[[Document], None] = lambda document: None,
        recordings: Recordings | None = None,
    ) -> None:
        """
        Args:
            on_analysis: called with a path when the session has the analysis of its newest text, unless
                ``text_changed`` returned it at once.
            on_program_changed: called with each text that parses and is another program than the one before of its
                file.
            recordings: recorded runs; None are those that no other part of the session reads.
        """
        self._session = session
        self._executor = executor
        self._on_analysis = on_analysis
        self._on_program_changed = on_program_changed
        self._disk = FileCache()
        self._recordings = recordings or Recordings()
        self._program_digests: dict[str, str] = {}
        """Normalized digest of the text last passed to ``on_program_changed``, by path."""
        self._outdated: set[str] = set()
        """Documents whose analysis is running on data that has changed since."""
        self._analysing: dict[str, asyncio.Task[None]] = {}
        self._reading: dict[str, asyncio.Task[None]] = {}

    def text_changed(self, document: Document) -> bool:
        """Take the present text of an open document.

        Returns:
            Whether traces can be planned on it now. If not, ``on_analysis`` is called later.
        """
        path, program = document.path, document.program
        is_quick = len(program.text) <= _TINY_TEXT and self._recordings.reads_nothing_for(path)
        if is_quick and path not in self._analysing:
            cross_file = self._cross_file_recipes()
            if not cross_file.concerns(program):
                settings = self._session.folder_of(path).settings
                self._take(program, analyse(program, settings, cross_file, self._recordings))
                return True
        if path in self._analysing:
            # The text or the settings may have changed since the running analysis started.
            self._outdated.add(path)
        else:
            self._run(self._analysing, path, self._analyse_on_thread(path))
        return len(program.text) <= _SHORT_TEXT and self._session.carry_over_analysis(program)

    def file_written(self, path: str) -> None:
        """Compare a closed file that may have changed with what traces read of it."""
        self._program_digests.pop(path, None)
        models = self._session.models
        # Which files a running trace has read is known at its end only.
        if models.running or any(path in attempt.texts for attempt in models.attempts.values()):
            previous = self._reading.get(path)
            if previous is not None:
                previous.cancel()
            self._run(self._reading, path, self._read_on_thread(path))

    def other_files_changed(self, paths: frozenset[str] | None) -> None:
        """Analyse open documents again that depend on other files.

        Args:
            paths: files that changed; None if that may be all.
        """
        # A first analysis has no known dependencies yet, so it counts as outdated.
        self._outdated |= {
            path for path in self._analysing if path not in self._session.analyses and paths != frozenset({path})
        }
        for path, analysis in tuple(self._session.analyses.items()):
            derived = self._session.update_bases(path)
            if derived or paths is None or (paths - {path} and self._is_concerned(analysis, paths - {path})):
                # A user who edits that file wants to see these models traced again, as after an edit of their own file.
                self._session.models.reset_budget(path)
                if path in self._analysing:
                    self._outdated.add(path)
                else:
                    self._run(self._analysing, path, self._analyse_on_thread(path))

    def _is_concerned(self, analysis: Analysis, paths: frozenset[str]) -> bool:
        return bool(analysis.files_read & paths) or bool(self._cross_file_recipes().users_of(analysis.document) & paths)

    def _cross_file_recipes(self) -> CrossFileRecipes:
        """Return recipes of the present workspace, callable on any thread."""
        return CrossFileRecipes(self._session.index, self.reader())

    def reader(self) -> ReadText:
        """Return a function that reads present texts of files, callable on any thread."""
        session = self._session
        texts = {path: text for path in session.documents if (text := session.text_to_trace(path)) is not None}
        return lambda path: texts.get(path) or self._disk.read(path)

    @property
    def is_busy(self) -> bool:
        """Whether a text is being analysed or read."""
        return bool(self._analysing or self._reading)

    async def close(self) -> None:
        tasks = (*self._analysing.values(), *self._reading.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _analyse_on_thread(self, path: str) -> None:
        loop = asyncio.get_running_loop()
        while (document := self._session.documents.get(path)) is not None:
            program, settings = document.program, self._session.folder_of(path).settings
            await loop.run_in_executor(self._executor, _prepare, program)
            if self._session.documents.get(path) is document and self._session.carry_over_analysis(program):
                self._on_analysis(path)
            self._outdated.discard(path)
            cross_file = self._cross_file_recipes()
            arguments = (program, settings, cross_file, self._recordings)
            analysis = await loop.run_in_executor(self._executor, analyse, *arguments)
            if self._session.documents.get(path) is document and path not in self._outdated:
                self._take(program, analysis)
                self._on_analysis(path)
                if self._session.documents.get(path) is document and path not in self._outdated:
                    break
        # In the same step of the loop as the check above: an edit in the next step must find no running analysis.
        del self._analysing[path]

    async def _read_on_thread(self, path: str) -> None:
        document = await asyncio.get_running_loop().run_in_executor(self._executor, _read, path)
        if path not in self._session.documents:
            self._session.set_on_disk(document)
            self._on_analysis(path)

    def _take(self, document: Document, analysis: Analysis | None) -> None:
        session, path = self._session, document.path
        if analysis is None:
            session.mark_unparsed(document)
            return
        if path not in session.analyses:
            self._add_existing_coverage(document)
        if session.is_excluded(path):
            # Syntactic features work in an excluded file too.
            analysis = Analysis(document, ())
        reconcile(session, session.set_analysis(analysis))
        if self._program_digests.get(path) != document.normalized:
            self._program_digests[path] = document.normalized
            self._on_program_changed(document)

    def _add_existing_coverage(self, document: Document) -> None:
        """Add the coverage of a document's models by reports that are older than it."""
        for key, state in self._session.models.states.items():
            if state.report is not None and document.path in state.texts:
                found = coverage(state.report, state.texts, {document.path: document}, key)
                self._session.models.add_covered(key, found)

    def _run(self, tasks: dict[str, asyncio.Task[None]], path: str, work: Coroutine[Any, Any, None]) -> None:
        def ended(task: asyncio.Task[None]) -> None:
            if tasks.get(path) is task:
                del tasks[path]
            if not task.cancelled() and (error := task.exception()) is not None:
                _log.error("internal error in fxlsp: %s could not be read", path, exc_info=error)

        tasks[path] = asyncio.create_task(work)
        tasks[path].add_done_callback(ended)


def _prepare(document: Document) -> Document:
    """Compute in advance what comparisons with other texts need."""
    document.normalized  # noqa: B018
    document.parses  # noqa: B018
    return document


def _read(path: str) -> Document:
    """Return the document of a file; an empty one if it cannot be read."""
    try:
        return _prepare(read_document(path).program)
    except (OSError, UnicodeDecodeError, SyntaxError):
        return _prepare(Document("", path, None, ""))
