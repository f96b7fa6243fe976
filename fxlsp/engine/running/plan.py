"""Plan of the next traces: which models are traced, and in which order."""

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
"""Worker time for the first traces of a file's models; the other models wait for a hover or an edit."""

MOST_CHARGED_MS = 1000.0
"""Limit of the charge for one trace, so that a trace that hangs does not use up the budget of the others."""

_FAILED = 4
BACKGROUND = 8
"""Lowest priority of models of closed files."""
_SETTLED = (Status.FRESH, Status.STALE, Status.FAILED, Status.POISONED)


@dataclass(frozen=True, slots=True)
class PlannedTrace:
    """Model to trace, and its priority."""

    key: ModelKey
    priority: int
    """The lowest is traced first: 0 under the cursor, 1 in its file, 2 in another open file that reads the cursor's, 3
    in other files; 4 more if the last trace failed; from 8 on in closed files, 1 more there if another model may cover
    this one."""


TracePlan = tuple[PlannedTrace, ...]
"""Traces to run, those with the lowest priority number first."""


def plan(session: Session) -> TracePlan:
    """Return the traces to run for the present texts, parents before children."""
    if not session.trusted:
        return ()
    context_models = tuple(_plan_context_models(session))
    states: dict[str, list[ModelState]] = {}
    for state in session.models.states.values():
        states.setdefault(state.key.file, []).append(state)
    planned_traces = [
        planned
        for path in session.analyses
        if not session.is_unparsed(path) and session.is_trusted(path)
        for planned in _plan_document(session, path, states.get(path, ()))
    ]
    return tuple(sorted((*context_models, *planned_traces), key=lambda planned: planned.priority))


def _plan_context_models(session: Session) -> Iterator[PlannedTrace]:
    for key in session.models.context_models:
        state = session.models.states.get(key)
        if state is not None and session.is_trusted(key.file) and _needs_trace(session, state):
            yield PlannedTrace(
                key, (1 if _is_for_cursor_document(session, key) else 3) + (_FAILED if state.failure else 0)
            )


def _is_for_cursor_document(session: Session, key: ModelKey) -> bool:
    """Return whether a context model is traced for the document under the cursor."""
    analysis = session.analyses.get(session.cursor[0]) if session.cursor is not None else None
    context_models = () if analysis is None else analysis.context_models
    return any((model.path, model.name) == (key.file, key.name) for model in context_models)


def update_statuses(session: Session) -> None:
    """Set the status and the coverage of every model without a running trace."""
    for key, state in tuple(session.models.states.items()):
        if state.busy:
            if state.has_early_graph and not _shows_present(session, state):
                session.models.outdate_graph(key)
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
    return Status.FRESH if _shows_present(session, state) else Status.STALE


def _shows_present(session: Session, state: ModelState) -> bool:
    """Return whether a report is of the present texts."""
    return session.holds(state.texts) and not is_being_edited(session, state.texts)


def is_being_edited(session: Session, paths: Iterable[str]) -> bool:
    """Return whether the present text of a file is not the one that is traced, since it does not parse."""
    return any(session.is_unparsed(path) or _is_behind(session.documents.get(path)) for path in paths)


def _is_behind(document: Document | None) -> bool:
    """Return whether a notebook has a cell that is traced as it was before an error."""
    return (
        document is not None
        and document.cells is not None
        and any(cell.uses_earlier_text for cell in document.cells.cells)
    )


def covering_model(session: Session, key: ModelKey) -> ModelKey | None:
    """Return the model whose trace covers this one.

    None if there is none, or if this model is requested by itself.
    """
    candidate = candidate_of(session, key)
    if candidate is None or candidate.requested:
        return None
    for other in session.models.covering(key.file, key.name):
        state = session.models.states.get(other)
        if other != key and state is not None and state.failure is None:
            return other
    return None


def is_current(session: Session, key: ModelKey) -> bool:
    """Return whether another trace of this model would have the same outcome."""
    attempt = session.models.attempts.get(key)
    return attempt is not None and not attempt.repeat and session.holds(attempt.texts)


def is_outdated(session: Session, key: ModelKey) -> bool:
    """Return whether the running trace of a model read texts that have changed."""
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
        # A model that was traced by itself already is shown as fast as it can be: what covers it may take long.
        waits = candidate.parents & pending or (candidate.users & context_models and state.report is None)
        if waits and not candidate.requested:
            pending.add(candidate.name)
        elif _needs_trace(session, state):
            pending.add(candidate.name)
            yield PlannedTrace(state.key, _priority(session, state.key, candidate) + (_FAILED if state.failure else 0))
        elif state.busy:
            pending.add(candidate.name)


def _is_expected(session: Session, key: ModelKey) -> bool:
    """Return whether a context model is still to be traced.

    Its trace may cover models that would be traced with guessed inputs otherwise.
    """
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
    """Return whether all changes since these texts are typed and not saved."""
    changed = [path for path, digest in texts.items() if not session.holds({path: digest})]
    return bool(changed) and all(session.is_held_back(path) for path in changed)


def _affordable(session: Session, key: ModelKey) -> bool:
    spent = session.models.spent_ms.get(key.file, 0.0)
    return spent < FIRST_TRACES_MS or key.file in session.background or under_cursor(session, key)


def _priority(session: Session, key: ModelKey, candidate: Candidate) -> int:
    if key.file in session.background:
        return BACKGROUND + bool(candidate.users and not candidate.is_fed)
    if session.cursor is None:
        return 3
    path, _ = session.cursor
    if path == key.file:
        return 0 if _holds_cursor(session, candidate) else 1
    attempt = session.models.attempts.get(key)
    return 2 if attempt is not None and path in attempt.texts else 3


def under_cursor(session: Session, key: ModelKey) -> bool:
    """Return whether the cursor is in the model."""
    candidate = candidate_of(session, key)
    return session.cursor is not None and session.cursor[0] == key.file and _holds_cursor(session, candidate)


def _holds_cursor(session: Session, candidate: Candidate | None) -> bool:
    if candidate is None or session.cursor is None:
        return False
    return candidate.extent.line <= session.cursor[1] <= candidate.extent.end_line


def candidate_of(session: Session, key: ModelKey) -> Candidate | None:
    """Return the candidate of a model in its file's newest analysis."""
    analysis = session.analyses.get(key.file)
    return analysis.by_name.get(key.name) if analysis is not None else None
