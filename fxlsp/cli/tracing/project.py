"""Settings and interpreter of a folder, as the server would choose them."""

from __future__ import annotations

import logging
import os
from dataclasses import dataclass
from functools import cached_property

from fxlsp.cli.output.excerpts import location_text
from fxlsp.cli.tracing.workspace_files import WorkspaceFiles
from fxlsp.engine.settings.interpreters import choose_interpreter
from fxlsp.engine.settings.policy import Policy
from fxlsp.engine.settings.settings import COMMAND_LINE_SECONDS, Settings, absolute_reference, read_settings
from fxlsp.engine.state.recorded_recipes import Recordings

_log = logging.getLogger("fxlsp")


@dataclass(frozen=True)
class Project:
    """Settings and interpreter of one folder."""

    settings: Settings
    python: str
    """Path of the interpreter that traces."""
    policy: Policy
    folder: str

    @cached_property
    def files(self) -> WorkspaceFiles:
        """The files around, read at the first use."""
        return WorkspaceFiles([self.folder])

    @cached_property
    def recordings(self) -> Recordings:
        """The recorded runs, read when they are looked up."""
        return Recordings()


class Projects:
    """Projects by folder: settings are read once, and their errors reported once."""

    def __init__(self, python: str | None, profile: str | None = None, tracer: str | None = None) -> None:
        """Store the options of the command line, which override all settings.

        Args:
            python: the interpreter, a command or a path.
            profile: the profile.
            tracer: the tracer; its file is relative to the working directory.
        """
        self._profile = profile
        self._tracer = absolute_reference(tracer, os.getcwd()) if tracer else None
        self._python = _absolute(python) if python else None
        self._projects: dict[str, Project] = {}
        self._reported: set[str] = set()

    def at(self, folder: str) -> Project:
        """Return the project of ``folder``.

        Raises:
            InterpreterError: the chosen interpreter cannot be used.
        """
        project = self._projects.get(folder)
        if project is None:
            project = self._projects[folder] = self._read(folder)
        return project

    def _read(self, folder: str) -> Project:
        client = {"python": self._python, "profile": self._profile, "tracer": self._tracer}
        settings, problems = read_settings(folder, client, COMMAND_LINE_SECONDS)
        for problem in problems:
            where = f"{location_text(problem.location)}: " if problem.location is not None else ""
            self._warn_once(f"{where}{problem.message}")
        interpreter = choose_interpreter(folder, settings.python)
        _log.info("%s is traced by %s", folder, interpreter.describe())
        # These commands are about torch.fx: its problems are reported as such, unless a setting or option differs.
        profile = "fx" if settings.profile == "auto" else settings.profile
        return Project(settings, interpreter.path, Policy.of(settings, profile), folder)

    def _warn_once(self, message: str) -> None:
        if message not in self._reported:
            self._reported.add(message)
            _log.warning("%s", message)


def _absolute(python: str) -> str:
    """Return a path made absolute from the working directory.

    The name of a command is returned as it is.
    """
    return os.path.abspath(python) if os.path.basename(python) != python else python
