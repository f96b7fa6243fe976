"""Workspace folders, each with its settings and its interpreter."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fxlsp.engine.index.python_files import IsExcluded
from fxlsp.engine.settings.exclusion import Exclusion
from fxlsp.engine.settings.interpreters import Interpreter, InterpreterError, choose_interpreter
from fxlsp.engine.settings.pyproject import Pyproject, read_pyproject
from fxlsp.engine.settings.settings import EDITOR_SECONDS, SettingProblem, Settings, settings_of
from fxlsp.engine.state.snapshot import inside
from fxlsp.report.problems import Failure


@dataclass(frozen=True, slots=True)
class Folder:
    """One workspace folder with its present settings."""

    path: str
    """Real, absolute path; "" for files that are in no folder."""
    settings: Settings
    problems: tuple[SettingProblem, ...]
    interpreter: Interpreter | None
    failure: Failure | None
    """Why there is no interpreter."""
    pyproject: Pyproject = field(default_factory=lambda: Pyproject(""))


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """Settings that the editor sent for the folders."""

    settings: Mapping[str, Any]
    """Values in the structure of ``[tool.fxlsp]``."""
    python: str | None = None
    """Interpreter chosen in the editor; None if it sends none."""
    seconds: float = EDITOR_SECONDS
    """Default time limit of a trace."""
    folders: Mapping[str, ClientSettings] = field(default_factory=dict)
    """Settings of single folders, in place of these, by real path of the folder."""


def read_folder(path: str, client: ClientSettings) -> Folder:
    """Read a folder's ``pyproject.toml`` and search for its interpreter."""
    real = os.path.realpath(path) if path else ""
    client = client.folders.get(real, client)
    pyproject = read_pyproject(real)
    settings, problems = settings_of(pyproject, real, client.settings, client.seconds)
    try:
        interpreter = choose_interpreter(real or None, settings.python, client.python)
    except InterpreterError as error:
        return Folder(real, settings, problems, None, error.failure, pyproject)
    return Folder(real, settings, problems, interpreter, None, pyproject)


def folder_of(path: str, folders: Iterable[Folder]) -> Folder:
    """Return the innermost folder that contains ``path``, else the first.

    A buffer without a file thus has a folder too.
    """
    known = tuple(folders)
    holding = [folder for folder in known if folder.path and inside(path, folder.path)]
    return max(holding, key=lambda folder: len(folder.path), default=known[0])


def exclusion_of(folders: Iterable[Folder]) -> IsExcluded:
    """Return what the settings of these folders exclude; callable on any thread."""
    return combined_exclusion((folder.path, folder.settings.exclude) for folder in folders)


def combined_exclusion(folders: Iterable[tuple[str, Exclusion]]) -> IsExcluded:
    """Return the exclusion by the innermost of several folders.

    Args:
        folders: path and exclusion of each folder.
    """
    innermost_first = sorted((each for each in folders if each[0]), key=lambda each: len(each[0]), reverse=True)

    def is_excluded(path: str) -> bool:
        # A folder is not inside itself, although its path ends with a separator here.
        stem = path.rstrip(os.sep)
        return next((excludes(path) for folder, excludes in innermost_first if inside(stem, folder)), False)

    return is_excluded
