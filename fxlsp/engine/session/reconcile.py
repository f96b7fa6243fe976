"""Brings the models of a session in line with what its documents say."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fxlsp.engine.state.analysis import Analysis, Candidate, ContextModel
from fxlsp.engine.state.folders import Folder
from fxlsp.engine.state.session import Session
from fxlsp.engine.state.snapshot import ModelKey, ModelState, Status


def reconcile(session: Session, analysis: Analysis) -> None:
    """Adds the models that a document has now and removes those that it has no more.

    A model made in another way than before keeps the old report, stale, until there is a new one: nothing that is
    shown vanishes because its recipe is being typed.
    """
    path = analysis.document.path
    folder = session.folder_of(path)
    before = {key: state for key, state in session.models.states.items() if key.file == path}
    after: dict[ModelKey, ModelState] = {}
    for candidate in analysis.candidates:
        same_name = [state for key, state in before.items() if key.name == candidate.name]
        for key in _keys(candidate, folder, path, [state.key for state in same_name]):
            state = before.get(key) or _successor(key, same_name, after)
            # The same object, where nothing new was found: who shows it sees at once that it is none the older.
            found = state.found if state.found == candidate.found else candidate.found
            after[key] = replace(_without_interpreter(state, folder), found=found, pinned=candidate.pinned)
    session.models.set_models(path, after)
    sync_context_models(session)


def sync_context_models(session: Session) -> None:
    """Adds the models that the documents want traced in files that are not open, and removes those of no more use."""
    wanted = {
        _context_model_key(session, path, model): model
        for path, analysis in session.analyses.items()
        for model in analysis.context_models
        if model.path not in session.documents and model.path not in session.background
    }
    states: dict[ModelKey, ModelState] = {}
    for key, model in wanted.items():
        state = _without_interpreter(session.models.states.get(key) or ModelState(key), session.folder_of(key.file))
        states[key] = replace(state, found=model.found)
    session.set_context_models(wanted, states)


def _context_model_key(session: Session, document_path: str, model: ContextModel) -> ModelKey:
    folder, settings = session.folder_of(document_path), session.folder_of(model.path).settings
    python = folder.interpreter.path if folder.interpreter is not None else ""
    return ModelKey(python, model.path, model.name, model.recipe, settings.tracing, settings.sizes)


def _keys(candidate: Candidate, folder: Folder, path: str, before: list[ModelKey]) -> Iterator[ModelKey]:
    python = folder.interpreter.path if folder.interpreter is not None else ""
    recipes = candidate.recipes or tuple(key.recipe for key in before) or (None,)
    for recipe in recipes:
        yield ModelKey(python, path, candidate.name, recipe, folder.settings.tracing, folder.settings.sizes)


def _successor(key: ModelKey, same_name: list[ModelState], after: dict[ModelKey, ModelState]) -> ModelState:
    """A new state, with the report of the model of the same name that stood in the same place."""
    place = sum(1 for other in after if other.name == key.name)
    if place >= len(same_name):
        return ModelState(key)
    old = same_name[place]
    status = Status.STALE if old.report is not None else Status.UNKNOWN
    return replace(old, key=key, status=status, failure=None, failure_texts={})


def _without_interpreter(state: ModelState, folder: Folder) -> ModelState:
    if folder.failure is None:
        return state
    failure = replace(folder.failure, target=f"{state.key.file}:{state.key.name}")
    return replace(state, status=Status.FAILED, failure=failure)
