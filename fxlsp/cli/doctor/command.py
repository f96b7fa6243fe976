"""``fxlsp doctor``: all checks in order, each after what it depends on."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fxlsp import __version__
from fxlsp.cli.doctor.environment import cache, memory, untried_system
from fxlsp.cli.doctor.finding import DoctorFinding
from fxlsp.cli.doctor.first_trace import FirstTrace, first_trace
from fxlsp.cli.doctor.interpreter import find_interpreter, fork_support, installed_packages, torch_advice
from fxlsp.cli.doctor.settings import SettingRow, setting_rows, settings_finding
from fxlsp.cli.doctor.workspace import profile, recordings, workspace
from fxlsp.cli.exit_codes import NOTHING_FOUND, PROBLEMS_FOUND, UsageError
from fxlsp.engine.settings.pyproject import read_pyproject
from fxlsp.engine.settings.settings import COMMAND_LINE_SECONDS, settings_of
from fxlsp.engine.state.configured_models import unknown_models
from fxlsp.ide.render.numbers import counted
from fxlsp.report.problems import SCHEMA

_MARK_WIDTH = 7
_TOPIC_WIDTH = 11


@dataclass
class DoctorReport:
    """Everything that one run found."""

    folder: str
    settings: list[SettingRow] = field(default_factory=list)
    findings: list[DoctorFinding] = field(default_factory=list)
    trace: FirstTrace = field(default_factory=FirstTrace)

    @property
    def works(self) -> bool:
        """Whether models can be traced, perhaps with warnings."""
        return all(finding.mark != "error" for finding in self.findings)

    def to_json(self) -> dict[str, Any]:
        environment = self.trace.environment
        return {
            "schema": SCHEMA,
            "version": __version__,
            "folder": self.folder,
            "works": self.works,
            "environment": None if environment is None else environment.to_json(),
            "findings": [finding.to_json() for finding in self.findings],
            "settings": [row.to_json() for row in self.settings],
            "timing_ms": self.trace.timing_ms,
        }


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("doctor", help="show whether fxlsp works here, with which interpreter and settings")
    parser.add_argument("path", metavar="PATH", nargs="?", default=".", help="a folder or file of the project")
    parser.add_argument("--format", choices=["text", "json"], default="text")
    parser.add_argument("--python", metavar="PATH", help="the interpreter that traces, instead of the project's")
    text = "only look: run no interpreter, which may be a file of the folder, and trace nothing"
    parser.add_argument("--no-run", action="store_true", help=text)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if not os.path.exists(arguments.path):
        raise UsageError(f"there is no {arguments.path}")
    found = _diagnose(os.path.realpath(arguments.path), arguments.python, may_run=not arguments.no_run)
    if arguments.format == "json":
        sys.stdout.write(json.dumps(found.to_json()) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in _lines(found))
    return NOTHING_FOUND if found.works else PROBLEMS_FOUND


def _diagnose(path: str, python: str | None, *, may_run: bool) -> DoctorReport:
    folder = path if os.path.isdir(path) else os.path.dirname(path)
    found = DoctorReport(folder)
    if python is not None and os.path.basename(python) != python:
        python = os.path.abspath(python)
    pyproject = read_pyproject(folder)
    settings, problems = settings_of(pyproject, folder, {"python": python}, COMMAND_LINE_SECONDS)
    interpreter, probed, first = find_interpreter(folder, settings.python, may_run=may_run)
    found.findings += (first, *untried_system())
    if interpreter is not None and probed is not None:
        found.trace = first_trace(interpreter, settings, torch_advice(interpreter, probed))
        found.findings += (
            installed_packages(probed),
            *found.trace.torch,
            fork_support(probed),
            memory(settings.megabytes),
        )
    found.settings = setting_rows(settings, pyproject, folder)
    index, models = workspace(folder)
    if pyproject.folder == folder:
        problems = (*problems, *unknown_models(pyproject, index))
    found.findings += (*settings_finding(pyproject, found.settings, problems), cache(), models, *recordings(folder))
    found.findings += (profile(folder, settings), *found.trace.traced)
    return found


def _lines(found: DoctorReport) -> Iterator[str]:
    yield f"fxlsp {__version__} in {found.folder}"
    yield ""
    indent = " " * (_MARK_WIDTH + _TOPIC_WIDTH + 4)
    for finding in found.findings:
        first, *rest = finding.message.splitlines() or [""]
        yield f"{finding.mark:<{_MARK_WIDTH}}  {finding.topic:<{_TOPIC_WIDTH}}  {first}"
        yield from (f"{indent}{line}" for line in (*rest, *finding.details))
        if finding.advice is not None:
            yield f"{indent}what to do: {finding.advice}"
    yield ""
    yield summary_line(found)


def summary_line(found: DoctorReport) -> str:
    """Return the last line: whether models can be traced, and how many warnings.

    Example:
        >>> summary_line(DoctorReport("/project"))
        'Models can be traced here.'
    """
    if found.works:
        warnings = sum(finding.mark == "warning" for finding in found.findings)
        return "Models can be traced here" + (f", with {counted(warnings, 'warning')}." if warnings else ".")
    return "Models cannot be traced here: see the lines marked 'error'."
