"""Makes the immutable picture of a session that everybody else sees."""

from __future__ import annotations

from fxlsp.engine.folders import Folder
from fxlsp.engine.session import Session
from fxlsp.engine.store import InterpreterState, Snapshot
from fxlsp.engine.template import TemplateState
from fxlsp.engine.templates import Templates


def take_snapshot(session: Session, templates: Templates) -> Snapshot:
    """The session as it is now. Copies the tables, not what they hold."""
    return Snapshot(
        documents=dict(session.documents),
        settled={path: analysis.document for path, analysis in session.analyses.items()},
        logs=dict(session.histories),
        models=dict(session.states),
        trusted=session.trusted,
        interpreters=tuple(_interpreter_state(folder, templates) for folder in session.folders),
        hints=session.folders[0].settings.hints,
        setting_problems=tuple(problem for folder in session.folders for problem in folder.problems),
    )


def _interpreter_state(folder: Folder, templates: Templates) -> InterpreterState:
    if folder.interpreter is None:
        return InterpreterState(folder.path, None, failure=folder.failure)
    template = templates.existing(folder.interpreter.path)
    if template is None:
        return InterpreterState(folder.path, folder.interpreter)
    busy = template.state is TemplateState.STARTING
    return InterpreterState(folder.path, folder.interpreter, template.environment, template.failure, busy)
