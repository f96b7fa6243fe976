"""The workspace folders, each with its settings and its interpreter."""

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
    """One folder as it is set up now."""

    path: str
    """Real and absolute; "" for files that lie in no folder."""
    settings: Settings
    problems: tuple[SettingProblem, ...]
    interpreter: Interpreter | None
    failure: Failure | None
    """Why there is no interpreter."""
    pyproject: Pyproject = field(default_factory=lambda: Pyproject(""))


@dataclass(frozen=True, slots=True)
class ClientSettings:
    """What the editor says about the folders."""

    settings: Mapping[str, Any]
    """Of the shape of ``[tool.fxlsp]``."""
    python: str | None = None
    """The interpreter chosen in the editor, as far as it tells."""
    seconds: float = EDITOR_SECONDS
    """The default time limit of a trace."""
    folders: Mapping[str, ClientSettings] = field(default_factory=dict)
    """What it says about single folders instead, by their real paths."""


def read_folder(path: str, client: ClientSettings) -> Folder:
    """Reads the folder's ``pyproject.toml`` and looks for its interpreter."""
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
    """The innermost folder that holds ``path``, else the first: a buffer without a file belongs to somebody too."""
    known = tuple(folders)
    holding = [folder for folder in known if folder.path and inside(path, folder.path)]
    return max(holding, key=lambda folder: len(folder.path), default=known[0])


def exclusion_of(folders: Iterable[Folder]) -> IsExcluded:
    """What the settings of these folders leave out; for use on any thread."""
    return combined_exclusion((folder.path, folder.settings.exclude) for folder in folders)


def combined_exclusion(folders: Iterable[tuple[str, Exclusion]]) -> IsExcluded:
    """The same of folders that are given by their paths: the innermost around a file decides."""
    innermost_first = sorted((each for each in folders if each[0]), key=lambda each: len(each[0]), reverse=True)

    def is_excluded(path: str) -> bool:
        # A folder is not inside itself, although its path ends with a separator here.
        stem = path.rstrip(os.sep)
        return next((excludes(path) for folder, excludes in innermost_first if inside(stem, folder)), False)

    return is_excluded
