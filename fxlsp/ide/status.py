"""State of a session, for the status command, bug reports, the status bar and the log."""

from __future__ import annotations

from typing import Any

from fxlsp import __version__
from fxlsp.engine.settings.policy import Policy
from fxlsp.engine.state.snapshot import InterpreterState, ModelState, Snapshot
from fxlsp.ide.trace_view.provenance import readable_recipe


def information(snapshot: Snapshot, at_rest: bool) -> dict[str, Any]:
    """Return the state of a session as JSON.

    Args:
        at_rest: no trace is running or waiting.

    Returns:
        ``{"version", "trusted", "atRest", "folders", "models"}``. For each folder: its path, interpreter and why it was
        chosen, versions once the interpreter has started, the profile and why, and the failure. For each model: file,
        name, status, recipe, milliseconds of its last trace, the versions of the open documents that the report is of,
        and why the newest trace has no graph.
    """
    return {
        "version": __version__,
        "trusted": snapshot.trusted,
        "atRest": at_rest,
        "folders": [_folder(snapshot, each) for each in snapshot.interpreters],
        "models": [_model(each) for each in snapshot.models.values()],
    }


def information_text(facts: dict[str, Any]) -> str:
    """Return the state of a session as text, one line for each folder and model.

    Args:
        facts: from :func:`information`.
    """
    lines = [f"fxlsp {facts['version']}, {'at rest' if facts['atRest'] else 'at work'}"]
    if not facts["trusted"]:
        lines.append("this workspace is not trusted: nothing is traced")
    return "\n".join([*lines, *map(_folder_text, facts["folders"]), *map(_model_text, facts["models"])])


def interpreter_facts(state: InterpreterState) -> dict[str, Any]:
    """Return the state of an interpreter as JSON: folder, path, origin, versions, whether it starts, and the failure.

    Of what is not known yet, None.
    """
    interpreter, environment = state.interpreter, state.environment
    return {
        "folder": state.folder,
        "path": None if interpreter is None else interpreter.path,
        "origin": None if interpreter is None else interpreter.origin,
        "python": None if environment is None else environment.python,
        "torch": None if environment is None else environment.torch,
        "starting": state.busy,
        "failure": None if state.failure is None else state.failure.message,
    }


def _folder(snapshot: Snapshot, state: InterpreterState) -> dict[str, Any]:
    policy, facts = snapshot.policies.get(state.folder), interpreter_facts(state)
    folder, path, failure = (facts.pop(key) for key in ("folder", "path", "failure"))
    return {
        "folder": folder,
        "interpreter": path,
        **facts,
        "profile": None if policy is None else policy.profile,
        "profileReason": None if policy is None else policy.reason,
        "failure": failure,
    }


def _model(state: ModelState) -> dict[str, Any]:
    recipe = state.key.recipe if state.report is None else state.report.recipe
    return {
        "file": state.key.file,
        "name": state.key.name,
        "status": state.status.value if state.covered_by is None else f"covered by {state.covered_by.name}",
        "recipe": "no recipe" if recipe is None else readable_recipe(recipe),
        "milliseconds": state.cost_ms,
        "versions": dict(state.versions),
        "failure": None if state.failure is None else state.failure.message,
    }


def _model_text(model: dict[str, Any]) -> str:
    cost = f", {model['milliseconds']:.0f} ms" if model["milliseconds"] else ""
    failure = f": {model['failure']}" if model["failure"] else ""
    return f"{model['file']}:{model['name']} is {model['status']}{cost}, {model['recipe']}{failure}"


def _folder_text(folder: dict[str, Any]) -> str:
    return f"folder {folder['folder'] or '(none)'}: {_interpreter_text(folder)}; profile {folder['profile']}"


def _interpreter_text(folder: dict[str, Any]) -> str:
    if folder["failure"] is not None:
        return str(folder["failure"])
    versions = f" (Python {folder['python']}, torch {folder['torch']})" if folder["torch"] else ""
    return f"{folder['interpreter']}{versions}, chosen by {folder['origin']}"


def profile_text(folder: str, policy: Policy) -> str:
    """Return the profile of a folder, which sets the severities, and its reason."""
    where = f" in {folder}" if folder else ""
    return f"profile{where}: {policy.profile} ({policy.reason})"


def interpreter_text(state: InterpreterState) -> str | None:
    """Return which Python traces, with which torch; None before it is known."""
    if state.interpreter is None or state.environment is None:
        return None
    versions = f"Python {state.environment.python}, torch {state.environment.torch}"
    return f"tracing with {state.interpreter.describe()}: {versions}"
