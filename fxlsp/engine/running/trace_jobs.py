"""Execution of the traces that the plan requires."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace

from fxlsp.engine.connection.connection import Outcome
from fxlsp.engine.connection.supervisor_client import StartError, SupervisorClient
from fxlsp.engine.connection.supervisor_pool import SupervisorPool
from fxlsp.engine.running.apply_outcome import SentTexts, apply_outcome
from fxlsp.engine.running.early_graph import apply_early_graph
from fxlsp.engine.running.pacing import Pacing
from fxlsp.engine.running.plan import BACKGROUND, PlannedTrace, candidate_of, covering_model, plan, update_statuses
from fxlsp.engine.running.schedule import Scheduler
from fxlsp.engine.state.model_tables import TraceAttempt
from fxlsp.engine.state.session import Session
from fxlsp.engine.state.snapshot import ModelKey, Status, inside
from fxlsp.report.recipes import Recipe
from fxlsp.report.report import Report
from fxlsp.wire.messages import RecipeGuess, RecipeRequest, TraceRequest, TraceTarget

OnTraced = Callable[[frozenset[str]], None]
"""Called with the files whose answers have changed; with none if only a status has."""


class TraceJobs:
    """Updates the schedule from the plan, and applies the outcomes of traces."""

    def __init__(
        self, session: Session, supervisors: SupervisorPool, on_traced: OnTraced, limit: int | None = None
    ) -> None:
        self._session = session
        self._models = session.models
        self._supervisors = supervisors
        self._on_traced = on_traced
        self._scheduler: Scheduler[ModelKey] = Scheduler(limit, self._is_in_edited_file)
        self._pacing: Pacing[ModelKey] = Pacing()
        self._number = 0

    def replan(self) -> None:
        """Schedule the traces of the present plan, and withdraw all others."""
        update_statuses(self._session)
        planned_traces = plan(self._session)
        keys = {planned.key for planned in planned_traces}
        self._pacing.only_requested(keys)
        self._withdraw_except(keys)
        for planned in planned_traces:
            self._schedule(planned)

    def cancel(self, keys: Iterable[ModelKey]) -> None:
        """Cancel the running and waiting traces of these models."""
        for key in tuple(keys):
            self._scheduler.withdraw(key)
            self._scheduler.cancel(key)

    def stop(self) -> None:
        """Cancel all traces. They start again after a change of text or on request."""
        stopped = [key for key, state in self._models.states.items() if state.busy]
        for key in stopped:
            sent = self.send(key)
            self._models.set_attempt(key, TraceAttempt(sent.number, sent.digests()))
        self.cancel(stopped)
        self.replan()

    @property
    def is_busy(self) -> bool:
        """Whether a trace is running, waiting or pausing."""
        return self._scheduler.is_busy

    async def close(self) -> None:
        await self._scheduler.close()

    def _is_in_edited_file(self, key: ModelKey) -> bool:
        return self._session.cursor is not None and self._session.cursor[0] == key.file

    def _withdraw_except(self, keys: set[ModelKey]) -> None:
        for key in self._scheduler.waiting() - keys:
            self._scheduler.withdraw(key)
        settled = False
        for key, state in self._models.states.items():
            if state.status is Status.QUEUED and key not in keys:
                self._models.set_status(key, Status.UNKNOWN)
                settled = True
        for key in self._models.running.keys() - self._models.states.keys():
            self._scheduler.cancel(key)
        if settled:
            update_statuses(self._session)

    def _schedule(self, planned: PlannedTrace) -> None:
        key = planned.key
        self._pacing.requested(key)
        if key not in self._models.running:
            self._models.set_status(key, Status.QUEUED)
        elif self._pacing.gives_way(key, self._models.states[key].cost_ms):
            self._scheduler.cancel(key)
        # One that waits already may have become more urgent: the cursor has moved, or its file was opened.
        priority, is_patient = planned.priority, planned.priority >= BACKGROUND
        self._scheduler.submit(key, lambda: self._trace(key), priority=priority, is_patient=is_patient)

    async def _trace(self, key: ModelKey) -> None:
        """Trace a model on the texts at the start of the trace."""
        if key not in self._models.states or covering_model(self._session, key) is not None:
            return
        sent = self.send(key)
        self._begin(key, sent)
        try:
            outcome, cost_ms = await self._outcome(key, sent)
        except BaseException:
            # Usually a cancellation: subscribers must see another status than "running" after it.
            self._pacing.cancelled(key)
            self._end(key)
            self._on_traced(frozenset())
            raise
        self._pacing.finished(key)
        self._end(key)
        state = self._models.states.get(key)
        if state is not None and apply_outcome(self._session, key, sent, outcome, cost_ms):
            self.replan()
            self._on_traced(frozenset({key.file}) | state.files | self._models.states[key].files)

    def _begin(self, key: ModelKey, sent: SentTexts) -> None:
        self._models.start_trace(key, sent.digests())
        self._pacing.begun(key)
        self._on_traced(frozenset())

    def _end(self, key: ModelKey) -> None:
        """Record the end of a trace, also after a cancellation.

        The status is that of the waiting trace of the same model, if there is one.
        """
        if self._models.end_trace(key, is_waiting=self._scheduler.is_waiting(key)):
            update_statuses(self._session)

    def send(self, key: ModelKey) -> SentTexts:
        """Return the present texts to send with a request about a model."""
        self._number += 1
        roots = self._roots(key.file)
        texts = {path: self._session.text_to_trace(path) for path in self._session.documents}
        documents = {
            path: text
            for path, text in texts.items()
            if text is not None and (path == key.file or any(inside(path, root) for root in roots))
        }
        return SentTexts(self._number, documents)

    def _roots(self, path: str) -> tuple[str, ...]:
        roots = tuple(folder.path for folder in self._session.folders if folder.path)
        return roots if any(inside(path, root) for root in roots) else (*roots, os.path.dirname(path))

    def _import_roots(self, path: str) -> tuple[str, ...]:
        """Return the workspace folders, and those from which recorded programs imported a file."""
        analysis = self._session.analyses.get(path)
        folders = () if analysis is None else analysis.import_folders
        return tuple(dict.fromkeys((*self._roots(path), *folders)))

    async def _outcome(self, key: ModelKey, sent: SentTexts) -> tuple[Outcome, float]:
        """Return the outcome of a trace and its milliseconds without process starts."""
        supervisor = self._supervisors.get(key.python)
        await _started(supervisor)
        outcome = await supervisor.trace(
            self.request(key, sent),
            on_stage=lambda stage: self._pacing.started(key),
            on_early=lambda report, reads: self._show_graph(key, sent, report, reads),
        )
        return outcome, self._pacing.running_ms(key)

    def _show_graph(self, key: ModelKey, sent: SentTexts, report: Report, reads: Mapping[str, str]) -> None:
        """Show the graph of a running trace."""
        before = self._models.states.get(key)
        if before is not None and apply_early_graph(self._session, key, sent, report, reads):
            self.replan()
            self._on_traced(frozenset({key.file}) | before.files | self._models.states[key].files)

    def request(self, key: ModelKey, sent: SentTexts) -> TraceRequest:
        """Return the request for a trace of a model."""
        settings = self._session.folder_of(key.file).settings
        recipe = replace(
            RecipeRequest.of(key.recipe),
            alternatives=self._alternatives(key),
            only=self._is_pinned(key),
            guess=self._guess(key),
        )
        return TraceRequest(
            TraceTarget(key.name, file=key.file),
            recipe,
            texts={path: document.text for path, document in sent.documents.items()},
            roots=self._import_roots(key.file),
            tracer=settings.tracing,
            sizes=settings.sizes,
            symbols=settings.hints.has_symbols,
            limits=settings.limits,
        )

    def _is_pinned(self, key: ModelKey) -> bool:
        state = self._models.states.get(key)
        return state is not None and state.pinned

    def _guess(self, key: ModelKey) -> RecipeGuess | None:
        """Return the recipe that a search found for this text, else the last one, so that an edit needs no search."""
        present = self._session.text_to_trace(key.file)
        programs = () if present is None else (present.digest, self._session.program_of(present.digest))
        recipe = self._session.guesses.guess_of(key, programs, self._session.holds)
        return None if recipe is None else RecipeGuess(recipe.init, recipe.inputs, recipe.sizes_note)

    def _alternatives(self, key: ModelKey) -> tuple[Recipe, ...]:
        """Return further recipes to try.

        None once the recipe has worked, so that both passes start with it at once.
        """
        state = self._models.states.get(key)
        worked = state is not None and state.report is not None and state.report.recipe == key.recipe
        model = self._models.context_models.get(key) or candidate_of(self._session, key)
        return () if model is None or worked or key.recipe is None else model.alternatives


async def _started(supervisor: SupervisorClient) -> None:
    """Start the process if there is none; a failure becomes the trace's outcome."""
    with contextlib.suppress(StartError):
        await supervisor.start()
