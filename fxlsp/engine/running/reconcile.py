"""Update of the session's models from the analyses of its documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fxlsp.engine.state.analysis import Analysis, Candidate, ContextModel
from fxlsp.engine.state.folders import Folder
from fxlsp.engine.state.session import Session
from fxlsp.engine.state.snapshot import ModelKey, ModelState, Status


def reconcile(session: Session, analysis: Analysis) -> None:
    """Add the models that a document has now and remove its others.

    A model whose recipe changed keeps the old report, marked stale, until there is a new one: nothing disappears while
    a recipe is being typed.
    """
    path = analysis.document.path
    folder = session.folder_of(path)
    before = {key: state for key, state in session.models.states.items() if key.file == path}
    after: dict[ModelKey, ModelState] = {}
    for candidate in analysis.candidates:
        same_name = [state for key, state in before.items() if key.name == candidate.name]
        for key in _keys(candidate, folder, path, [state.key for state in same_name]):
            state = before.get(key) or _successor(key, same_name, after)
            # Reuse the same object if nothing changed, so that comparisons by identity are enough.
            found = state.found if state.found == candidate.found else candidate.found
            after[key] = replace(_without_interpreter(state, folder), found=found, pinned=candidate.pinned)
    session.models.set_models(path, after)
    sync_context_models(session)


def sync_context_models(session: Session) -> None:
    """Update the context models that the open documents require."""
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
    recipe, has_symbols = model.recipe, settings.hints.has_symbols
    return ModelKey(python, model.path, model.name, recipe, settings.tracing, settings.sizes, has_symbols)


def _keys(candidate: Candidate, folder: Folder, path: str, before: list[ModelKey]) -> Iterator[ModelKey]:
    python = folder.interpreter.path if folder.interpreter is not None else ""
    recipes = candidate.recipes or tuple(key.recipe for key in before) or (None,)
    settings = folder.settings
    for recipe in recipes:
        yield ModelKey(
            python, path, candidate.name, recipe, settings.tracing, settings.sizes, settings.hints.has_symbols
        )


def _successor(key: ModelKey, same_name: list[ModelState], after: dict[ModelKey, ModelState]) -> ModelState:
    """Return a state with the report of the same name's former model, if any.

    Of several models of one name, that at the same position counts.
    """
    place = sum(1 for other in after if other.name == key.name)
    if place >= len(same_name):
        return ModelState(key)
    old = same_name[place]
    status = Status.STALE if old.report is not None else Status.UNKNOWN
    return replace(old, key=key, status=status, failure=None, failure_texts={}, frontends=(), asking=None)


def _without_interpreter(state: ModelState, folder: Folder) -> ModelState:
    if folder.failure is None:
        return state
    failure = replace(folder.failure, target=f"{state.key.file}:{state.key.name}")
    return replace(state, status=Status.FAILED, failure=failure)
