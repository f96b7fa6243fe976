"""Creation of the immutable snapshots of a session."""

from __future__ import annotations

import os

from fxlsp.engine.connection.supervisor_client import SupervisorState
from fxlsp.engine.connection.supervisor_pool import SupervisorPool
from fxlsp.engine.settings.policy import Policy
from fxlsp.engine.settings.settings import SettingProblem
from fxlsp.engine.state.configured_models import unknown_models
from fxlsp.engine.state.folders import Folder
from fxlsp.engine.state.session import FxUse, Session
from fxlsp.engine.state.snapshot import InterpreterState, Snapshot
from fxlsp.source.models.fx_usage import fx_use_of


def take_snapshot(session: Session, supervisors: SupervisorPool) -> Snapshot:
    """Return a snapshot of the session. Copies the tables but not their values."""
    return Snapshot(
        documents=dict(session.documents),
        background=dict(session.background),
        settled={path: analysis.document for path, analysis in session.analyses.items()},
        logs=dict(session.histories),
        models=dict(session.models.states),
        trusted=session.trusted,
        untrusted=frozenset(path for path in session.documents if not session.is_trusted(path)),
        interpreters=tuple(_interpreter_state(folder, supervisors) for folder in session.folders),
        instances=dict(session.instances),
        hints={folder.path: folder.settings.hints for folder in session.folders},
        policies={folder.path: _policy(session, folder) for folder in session.folders},
        record_commands={folder.path: folder.settings.record_command for folder in session.folders},
        excluded=frozenset(path for path in session.documents if session.is_excluded(path)),
        setting_problems=tuple(problem for folder in session.folders for problem in _setting_problems(session, folder)),
        setting_texts={each.pyproject.path: each.pyproject.text for each in session.folders if each.pyproject.path},
        index=session.index,
    )


def _setting_problems(session: Session, folder: Folder) -> tuple[SettingProblem, ...]:
    # A file above the folder may configure models of folders that are not in the index.
    known = session.is_indexed and folder.pyproject.folder == folder.path
    return (*folder.problems, *(unknown_models(folder.pyproject, session.index) if known else ()))


def _policy(session: Session, folder: Folder) -> Policy:
    settings = folder.settings
    if settings.profile != "auto":
        where = "pyproject.toml" if settings.origin("profile") == "pyproject" else "the editor's settings"
        return Policy.of(settings, settings.profile, f"set in {where}")
    use = session.fx_uses.get(folder.path) or _open_use(session, folder)
    if use is not None:
        return Policy.of(settings, "fx", f"{os.path.basename(use.path)} uses {use.words}")
    # No problems of torch.fx before the folder has been searched: late ones are better than ones that disappear.
    known = not folder.path or folder.path in session.fx_uses
    return Policy.of(settings, "shapes", "no file uses torch.fx" if known else "")


def _open_use(session: Session, folder: Folder) -> FxUse | None:
    for path, document in session.documents.items():
        words = document.derive(fx_use_of) if session.folder_of(path) is folder else None
        if words is not None:
            return FxUse(path, words)
    return None


def _interpreter_state(folder: Folder, supervisors: SupervisorPool) -> InterpreterState:
    if folder.interpreter is None:
        return InterpreterState(folder.path, None, failure=folder.failure)
    supervisor = supervisors.existing(folder.interpreter.path)
    if supervisor is None:
        return InterpreterState(folder.path, folder.interpreter)
    busy = supervisor.state is SupervisorState.STARTING
    return InterpreterState(folder.path, folder.interpreter, supervisor.environment, supervisor.failure, busy)
