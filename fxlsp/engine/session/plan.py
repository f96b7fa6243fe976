"""Decides which models are to be traced next, and which need not be."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from fxlsp.engine.index.index import SymbolId
from fxlsp.engine.state.analysis import Analysis, Candidate
from fxlsp.engine.state.model_tables import MAX_DEATHS
from fxlsp.engine.state.session import Session
from fxlsp.engine.state.snapshot import ModelKey, ModelState, Status
from fxlsp.source.text.documents import Document

FIRST_TRACES_MS = 2000.0
"""Worker time that the first traces of a file's models may take before the others wait for a hover or an edit."""

MOST_CHARGED_MS = 1000.0
"""What one trace takes of that time at most: one that hangs leaves the other models a chance."""

_FAILED = 4
_BACKGROUND = 8
_SETTLED = (Status.FRESH, Status.STALE, Status.FAILED, Status.POISONED)


@dataclass(frozen=True, slots=True)
class PlannedTrace:
    """A model that is to be traced."""

    key: ModelKey
    priority: int
    """Lowest first. 0 under the cursor, 1 in its file, 2 in another open file that reads the cursor's, 3 elsewhere;
    4 more for what failed the last time; from 8 on for files that are not open, 1 more there where another model may
    cover this one."""


TracePlan = tuple[PlannedTrace, ...]
"""The most wanted trace first."""


def plan(session: Session) -> TracePlan:
    """What is to be traced for the texts as they are, most wanted first; parents come before their children."""
    if not session.trusted:
        return ()
    context_models = tuple(_plan_context_models(session))
    states: dict[str, list[ModelState]] = {}
    for state in session.models.states.values():
        states.setdefault(state.key.file, []).append(state)
    planned_traces = [
        planned
        for path in session.analyses
        if not session.is_unparsed(path)
        for planned in _plan_document(session, path, states.get(path, ()))
    ]
    return tuple(sorted((*context_models, *planned_traces), key=lambda planned: planned.priority))


def _plan_context_models(session: Session) -> Iterator[PlannedTrace]:
    for key in session.models.context_models:
        state = session.models.states.get(key)
        if state is not None and _needs_trace(session, state):
            yield PlannedTrace(
                key, (1 if _is_for_cursor_document(session, key) else 3) + (_FAILED if state.failure else 0)
            )


def _is_for_cursor_document(session: Session, key: ModelKey) -> bool:
    """Whether the document under the cursor is one for whose sake a guest is traced."""
    analysis = session.analyses.get(session.cursor[0]) if session.cursor is not None else None
    context_models = () if analysis is None else analysis.context_models
    return any((model.path, model.name) == (key.file, key.name) for model in context_models)


def update_statuses(session: Session) -> None:
    """Sets the status and the cover of every model that no trace is under way for, from what was tried."""
    for key, state in tuple(session.models.states.items()):
        if state.busy:
            continue
        cover = covering_model(session, key)
        if cover is None:
            status = _status(session, state)
            if status is not state.status or state.covered_by is not None:
                session.models.set_status(key, status)
        else:
            session.models.cover(key, cover)


def _status(session: Session, state: ModelState) -> Status:
    attempt = session.models.attempts.get(state.key)
    if attempt is None:
        return state.status if state.status in _SETTLED else Status.UNKNOWN
    if attempt.deaths >= MAX_DEATHS and session.holds(attempt.texts):
        return Status.POISONED
    if state.failure is not None:
        return Status.FAILED
    if state.report is None:
        return Status.UNKNOWN
    return Status.FRESH if session.holds(state.texts) and not _is_being_edited(session, state) else Status.STALE


def _is_being_edited(session: Session, state: ModelState) -> bool:
    return any(session.is_unparsed(path) or _is_behind(session.documents.get(path)) for path in state.texts)


def _is_behind(document: Document | None) -> bool:
    """Whether a cell of a notebook is traced as it was before it was broken."""
    return (
        document is not None
        and document.cells is not None
        and any(cell.uses_earlier_text for cell in document.cells.cells)
    )


def covering_model(session: Session, key: ModelKey) -> ModelKey | None:
    """The model whose trace shows this one's ``forward`` too, unless somebody asked for a trace of its own."""
    candidate = candidate_of(session, key)
    if candidate is None or candidate.requested:
        return None
    for other, files in session.models.covers.items():
        state = session.models.states.get(other)
        if other != key and key.name in files.get(key.file, ()) and state is not None and state.failure is None:
            return other
    return None


def is_current(session: Session, key: ModelKey) -> bool:
    """Whether another trace of this model would find nothing new."""
    attempt = session.models.attempts.get(key)
    return attempt is not None and not attempt.repeat and session.holds(attempt.texts)


def is_outdated(session: Session, key: ModelKey) -> bool:
    """Whether the trace of this model that runs was given texts, of those it reads, that have changed meanwhile."""
    sent = session.models.running.get(key, {})
    attempt = session.models.attempts.get(key)
    reads = attempt.texts if attempt is not None else sent
    return not session.holds({path: digest for path, digest in sent.items() if path in reads or path == key.file})


def _plan_document(session: Session, path: str, states: Iterable[ModelState]) -> Iterator[PlannedTrace]:
    analysis = session.analyses[path]
    pending: set[str] = set()
    context_models = {
        SymbolId(key.file, key.name) for key in session.models.context_models if _is_expected(session, key)
    }
    for candidate, state in _states_in_order(states, analysis):
        if (candidate.parents & pending or candidate.users & context_models) and not candidate.requested:
            pending.add(candidate.name)
        elif _needs_trace(session, state):
            pending.add(candidate.name)
            yield PlannedTrace(state.key, _priority(session, state.key, candidate) + (_FAILED if state.failure else 0))
        elif state.busy:
            pending.add(candidate.name)


def _is_expected(session: Session, key: ModelKey) -> bool:
    """Whether the trace of a guest is still to come: it may cover what would be guessed otherwise."""
    state = session.models.states.get(key)
    return state is not None and (state.busy or _needs_trace(session, state))


def _states_in_order(states: Iterable[ModelState], analysis: Analysis) -> Iterator[tuple[Candidate, ModelState]]:
    by_name: dict[str, list[ModelState]] = {}
    for state in states:
        by_name.setdefault(state.key.name, []).append(state)
    for candidate in analysis.candidates:
        yield from ((candidate, state) for state in by_name.get(candidate.name, ()))


def _needs_trace(session: Session, state: ModelState) -> bool:
    key = state.key
    if not key.python or covering_model(session, key) is not None:
        return False
    if key in session.models.running:
        return is_outdated(session, key) and not _waits_for_save(session, session.models.running[key])
    attempt = session.models.attempts.get(key)
    if attempt is None:
        # A recipe that the user has just chosen does not wait.
        return (state.pinned or not session.is_held_back(key.file)) and _affordable(session, key)
    return not is_current(session, key) and (attempt.repeat or not _waits_for_save(session, attempt.texts))


def _waits_for_save(session: Session, texts: Mapping[str, str]) -> bool:
    """Whether nothing has changed since these texts but what is typed and not saved."""
    changed = [path for path, digest in texts.items() if not session.holds({path: digest})]
    return bool(changed) and all(session.is_held_back(path) for path in changed)


def _affordable(session: Session, key: ModelKey) -> bool:
    spent = session.models.spent_ms.get(key.file, 0.0)
    return spent < FIRST_TRACES_MS or key.file in session.background or _under_cursor(session, key)


def _priority(session: Session, key: ModelKey, candidate: Candidate) -> int:
    if key.file in session.background:
        return _BACKGROUND + bool(candidate.users and not candidate.is_fed)
    if session.cursor is None:
        return 3
    path, _ = session.cursor
    if path == key.file:
        return 0 if _holds_cursor(session, candidate) else 1
    attempt = session.models.attempts.get(key)
    return 2 if attempt is not None and path in attempt.texts else 3


def _under_cursor(session: Session, key: ModelKey) -> bool:
    candidate = candidate_of(session, key)
    return session.cursor is not None and session.cursor[0] == key.file and _holds_cursor(session, candidate)


def _holds_cursor(session: Session, candidate: Candidate | None) -> bool:
    if candidate is None or session.cursor is None:
        return False
    return candidate.extent.line <= session.cursor[1] <= candidate.extent.end_line


def candidate_of(session: Session, key: ModelKey) -> Candidate | None:
    """What the newest text of its file that parsed says about a model."""
    analysis = session.analyses.get(key.file)
    candidates = analysis.candidates if analysis is not None else ()
    return next((candidate for candidate in candidates if candidate.name == key.name), None)
