"""The engine: takes documents and settings in, and returns snapshots."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from fxlsp.engine.connection.process import BOOTSTRAP
from fxlsp.engine.connection.supervisor_client import IDLE_SECONDS
from fxlsp.engine.connection.supervisor_pool import SupervisorPool
from fxlsp.engine.index.index import SymbolId
from fxlsp.engine.running.closed_files import ClosedFiles
from fxlsp.engine.running.documents import DocumentAnalyzer
from fxlsp.engine.running.frontends.frontend_jobs import REST_SECONDS, FrontendJobs
from fxlsp.engine.running.fx_usage import FxUsageSearch
from fxlsp.engine.running.indexer import Indexer
from fxlsp.engine.running.reconcile import sync_context_models
from fxlsp.engine.running.recording_watch import RecordingWatch
from fxlsp.engine.running.trace_jobs import TraceJobs
from fxlsp.engine.running.user_choices import UserChoices
from fxlsp.engine.state.folders import ClientSettings, read_folder
from fxlsp.engine.state.import_rewriting import rewrite_recipe
from fxlsp.engine.state.instances import ForwardInstance
from fxlsp.engine.state.pinned_recipes import PinnedRecipe
from fxlsp.engine.state.recorded_recipes import Recordings
from fxlsp.engine.state.session import Session
from fxlsp.engine.state.snapshot import ModelKey, Snapshot, Status
from fxlsp.engine.state.take_snapshot import take_snapshot
from fxlsp.engine.state.trust import TrustedScope
from fxlsp.recording.recording_file import NAME_IN_WORKSPACE
from fxlsp.report.frontends import FrontendVerdict
from fxlsp.report.recipes import Recipe
from fxlsp.source.text.documents import Document, TextEdit
from fxlsp.source.text.edits import DocumentEdit

_SETTINGS_FILE = "pyproject.toml"
_SHUTDOWN_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class SnapshotChange:
    """Difference between a snapshot and the one before."""

    cause: Literal["edit", "trace", "session"]
    """``edit``: a document was opened, edited, saved or closed; ``trace``: a trace started or ended; ``session``:
    trust, settings, an interpreter or a file on disk changed."""
    paths: frozenset[str] = frozenset()
    """Files whose answers may have changed; none if only the status of a model or interpreter has."""
    edit: DocumentEdit | None = None
    """The edit of an open document's text that is the cause."""


OnChange = Callable[[SnapshotChange], None]


class Engine:
    """State and jobs of a session. Create and use it on one running loop.

    :meth:`shutdown` must be awaited at the end.
    """

    def __init__(
        self,
        folders: Sequence[str] = (),
        client: ClientSettings | None = None,
        *,
        trusted: bool = False,
        trusted_folders: frozenset[str] = frozenset(),
        bootstrap: Path = BOOTSTRAP,
        limit: int | None = None,
        idle_seconds: float = IDLE_SECONDS,
        rest_seconds: float = REST_SECONDS,
    ) -> None:
        """
        Args:
            folders: paths of the workspace folders; none for single files.
            client: settings of the editor.
            trusted: whether code of the workspace may run.
            trusted_folders: real paths of folders whose code may run, whether they are of this workspace or not.
            bootstrap: program of the supervisors.
            limit: number of traces at once; None is one less than there are cores.
            idle_seconds: time after the last trace after which a supervisor is stopped.
            rest_seconds: time after the last edit after which other front ends are asked.
        """
        self._client = client or ClientSettings({})
        self._folders = tuple(folders)
        self._session = Session(trust=TrustedScope(trusted, trusted_folders))
        self._subscribers: list[OnChange] = []
        self._executor = ThreadPoolExecutor(4, "fxlsp-engine")
        self._supervisors = SupervisorPool(self._executor, self._on_supervisor, bootstrap, idle_seconds)
        recordings, session, executor = Recordings(), self._session, self._executor
        self._analyzer = DocumentAnalyzer(session, executor, self._on_analysis, self._on_program_changed, recordings)
        reader = self._analyzer.reader
        self._closed_files = ClosedFiles(session, executor, reader, self._on_closed_files, recordings)
        self._indexer = Indexer(session, executor, self._on_index)
        # Recordings are as other files in which recipes may be: all open documents may have others now.
        self._recording_watch = RecordingWatch(recordings, executor, lambda: self._on_index(None))
        self._recording_watch.start()
        self._jobs = TraceJobs(self._session, self._supervisors, self._on_traced, limit)
        self._frontends = FrontendJobs(
            session, self._supervisors, self._jobs, lambda: self._is_working, self._on_traced, rest_seconds
        )
        self._fx_usage = FxUsageSearch(self._session, self._executor, self._on_fx_usage)
        self._user_choices = UserChoices(self._session)
        self._read_folders()
        self.snapshot: Snapshot = take_snapshot(self._session, self._supervisors)
        """Present snapshot of the session, which each change replaces."""

    def subscribe(self, callback: OnChange) -> Callable[[], None]:
        """Call ``callback`` after each new snapshot, until the result is called."""
        self._subscribers.append(callback)
        return lambda: self._subscribers.remove(callback)

    @property
    def is_idle(self) -> bool:
        """Whether no work is running or waiting: only another change leads to a snapshot."""
        return not self._is_working and not self._frontends.is_busy

    @property
    def _is_working(self) -> bool:
        """Whether work is running or waiting that answers to edits."""
        parts = (self._analyzer, self._indexer, self._fx_usage, self._closed_files, self._jobs, self._recording_watch)
        return any(part.is_busy for part in parts)

    def open(self, document: Document) -> None:
        self._session.open(document)
        sync_context_models(self._session)
        self._text_changed(document)

    def change(self, path: str, edits: Sequence[TextEdit], version: int | None) -> None:
        """Apply edits to an open document.

        Spans move at once; traces follow later.

        Raises:
            KeyError: the document is not open.
        """
        self.update(self._session.documents[path].edited(edits, version), edits)

    def update(self, document: Document, edits: Sequence[TextEdit]) -> None:
        """Replace the text of an open document, to which ``edits`` lead."""
        edit = DocumentEdit.of(self._session.documents[document.path], document, edits)
        self._session.edit(document, edits)
        self._text_changed(document, edit)

    def close(self, path: str) -> None:
        """Close a document and remove its models; reports of others that read it stay."""
        self._session.close(path)
        sync_context_models(self._session)
        self._analyzer.file_written(path)
        self._indexer.files_written([path])
        self._closed_files.update(())
        self._replan("edit", path)

    def saved(self, path: str) -> None:
        """Record that a document was saved; read settings and retry failed traces.

        What a failed trace lacked may be outside the texts.
        """
        self._session.mark_saved(path)
        if os.path.basename(path) == _SETTINGS_FILE:
            self.configure(self._client)
            self._session.models.repeat(self._failed())
        self._fx_usage.files_written([path])
        self._session.models.repeat(key for key in self._failed() if key.file == path)
        self._replan("edit", path)

    def changed_on_disk(self, paths: Iterable[str]) -> None:
        """Record that files were created, written or deleted.

        Open files are ignored, since their text in the editor counts.
        """
        changed = [path for path in paths if path not in self._session.documents]
        if any(os.path.basename(path) == _SETTINGS_FILE for path in changed):
            self.configure(self._client)
        if any(os.path.basename(path) == NAME_IN_WORKSPACE for path in changed):
            self._recording_watch.look_now()
        self._fx_usage.files_written(changed)
        self._indexer.files_written(changed)
        for path in changed:
            self._analyzer.file_written(path)
        self._closed_files.files_written(changed)
        if changed:
            self._session.models.repeat(self._failed())
            self._replan("session")

    def set_cursor(self, path: str, line: int) -> None:
        """Set the position of the user.

        A model there is traced first, even if the budget of its file is used up.
        """
        if (path, line) == self._session.cursor:
            return
        self._session.set_cursor(path, line)
        if any(state.status is Status.UNKNOWN and not state.covered_by for state in self.snapshot.states_in(path)):
            self._replan("session")

    def trust(self) -> None:
        """Allow code of the workspace to run, for the rest of the session."""
        self._session.set_trust(TrustedScope(everything=True))
        self._replan("session", *self._session.documents)

    def end_trust(self) -> None:
        """Allow no code of the workspace to run any more, and end what runs."""
        self._session.set_trust(TrustedScope())
        self._jobs.cancel(self._session.models.states)
        self._frontends.cancel()
        self._replan("session", *self._session.documents)

    @property
    def folders(self) -> tuple[str, ...]:
        """Real paths of the workspace folders."""
        return tuple(folder.path for folder in self._session.folders if folder.path)

    def configure(self, client: ClientSettings, folders: Sequence[str] | None = None) -> None:
        """Replace the settings of the editor and read those of the folders again.

        Args:
            folders: new workspace folders; None leaves them as they are.
        """
        self._client = client
        self._folders = self._folders if folders is None else tuple(folders)
        self._read_folders()
        self._session.drop_analyses()
        for document in tuple(self._session.documents.values()):
            self._analyzer.text_changed(document)
        self._closed_files.update()
        self._replan("session", *self._session.documents)

    def choose_recipe(self, path: str, name: str, recipe: Recipe | None) -> None:
        """Set the recipe of a model to one of those in ``found``.

        The choice applies, in later sessions too, until a recipe comment is written for the model.

        Args:
            recipe: None removes the choice: the first recipe that works is used.
        """
        place = SymbolId(path, name)
        found = next((state.found for state in self.snapshot.states_in(path) if state.key.name == name), ())
        self._session.set_pinned_recipe(place, None if recipe is None else PinnedRecipe(recipe, found))
        document = self._session.documents.get(path)
        if document is not None:
            self._analyzer.text_changed(document)
        self._replan("session", path)

    def choose_instance(self, path: str, name: str, instance: ForwardInstance | None) -> None:
        """Set the use of a class that is shown.

        The choice applies, in later sessions too; while no trace has that use, the first one is shown.

        Args:
            instance: None removes the choice: the first use is shown.
        """
        self._session.set_instance(SymbolId(path, name), instance)
        self._publish(SnapshotChange("session", frozenset({path})))

    async def rewrite_for_document(self, path: str, recipe: Recipe) -> Recipe | None:
        """Return a recipe with names as the document can write them; None if it cannot."""
        document = self._session.documents.get(path)
        if recipe.file is None or document is None:
            return recipe
        index, folders = self._session.index, [folder.path for folder in self._session.folders if folder.path]
        source = await asyncio.get_running_loop().run_in_executor(self._executor, self._analyzer.reader(), recipe.file)
        return None if source is None else rewrite_recipe(recipe, document, source, index, folders)

    def retrace(self, path: str | None = None) -> None:
        """Trace the models of one file, or all, again although nothing has changed.

        Includes poisoned models and those over the budget of their file. Guesses are forgotten: searches begin anew. So
        are the verdicts of other front ends.
        """
        self._recording_watch.look_now()
        self._session.guesses.forget(path)
        self._session.models.forget_answers(path)
        self._session.models.repeat_all(path)
        self._replan("session")

    async def ask_frontends(self, path: str, name: str) -> tuple[FrontendVerdict, ...] | None:
        """Return the verdicts of other front ends on a model, and show them while its text stays as it is.

        None if there is no trace of its present text, or if an edit ends the request.
        """
        return await self._frontends.ask(path, name)

    def stop(self) -> None:
        """Cancel all running and waiting traces; the next edit starts new ones."""
        self._frontends.stop()
        self._jobs.stop()
        self._publish(SnapshotChange("session"))

    async def restart(self) -> None:
        """Stop the supervisors, forget why they failed, and trace all models again."""
        self._jobs.cancel(self._session.models.states)
        self._frontends.stop()
        await self._supervisors.restart()
        self._frontends.edited()
        self.configure(self._client)
        self.retrace()

    async def shutdown(self) -> None:
        """Stop all traces, processes and threads, within a few seconds."""
        self._subscribers.clear()
        with suppress(asyncio.TimeoutError):
            await asyncio.wait_for(self._user_choices.close(), _SHUTDOWN_SECONDS)
        await self._recording_watch.close()
        await self._fx_usage.close()
        await self._closed_files.close()
        await self._indexer.close()
        await self._analyzer.close()
        await self._frontends.close()
        await self._jobs.close()
        try:
            await asyncio.wait_for(self._supervisors.close(), _SHUTDOWN_SECONDS)
        finally:
            self._executor.shutdown(wait=False, cancel_futures=True)
            with suppress(asyncio.TimeoutError):
                # Work that a thread has started ends by itself; after that no file is left open.
                await asyncio.wait_for(asyncio.to_thread(self._executor.shutdown), _SHUTDOWN_SECONDS)

    def _text_changed(self, document: Document, edit: DocumentEdit | None = None) -> None:
        self._session.models.reset_budget(document.path)
        self._frontends.edited()
        if self._analyzer.text_changed(document):
            self._jobs.replan()
        self._publish(SnapshotChange("edit", frozenset({document.path}), edit))

    def _on_program_changed(self, document: Document) -> None:
        self._indexer.document_parsed(document)
        self._analyzer.other_files_changed(frozenset({document.path}))

    def _on_index(self, paths: frozenset[str] | None) -> None:
        self._analyzer.other_files_changed(paths)
        self._closed_files.update(paths)
        # Requests find the new index in the snapshot. No feature that the editor updates by itself depends on it, so no
        # change is published.
        self.snapshot = take_snapshot(self._session, self._supervisors)
        if any(folder.settings.recipe_locations for folder in self._session.folders):
            self._publish(SnapshotChange("session"))

    def _on_analysis(self, path: str) -> None:
        self._jobs.replan()
        self._publish(SnapshotChange("edit" if path in self._session.documents else "session", frozenset({path})))

    def _on_closed_files(self, paths: frozenset[str]) -> None:
        self._jobs.replan()
        self._publish(SnapshotChange("session", paths))

    def _on_traced(self, paths: frozenset[str]) -> None:
        self._closed_files.files_traced(paths)
        self._publish(SnapshotChange("trace", paths))

    def _on_fx_usage(self) -> None:
        self._publish(SnapshotChange("session", frozenset(self._session.documents)))

    def _on_supervisor(self) -> None:
        self._publish(SnapshotChange("session"))

    def _replan(self, cause: Literal["edit", "session"], *paths: str) -> None:
        self._jobs.replan()
        self._publish(SnapshotChange(cause, frozenset(paths)))

    def _publish(self, change: SnapshotChange) -> None:
        self._user_choices.schedule_write()
        self._frontends.update()
        self.snapshot = take_snapshot(self._session, self._supervisors)
        for callback in tuple(self._subscribers):
            callback(change)

    def _failed(self) -> list[ModelKey]:
        return [key for key, state in self._session.models.states.items() if state.failure is not None]

    def _read_folders(self) -> None:
        folders = tuple(read_folder(path, self._client) for path in self._folders or ("",))
        self._session.set_folders(folders)
        self._user_choices.read_folders()
        self._fx_usage.update_folders()
        self._indexer.update_folders()
        self._supervisors.close_others(
            {folder.interpreter.path for folder in folders if folder.interpreter is not None}
        )
