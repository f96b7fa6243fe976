"""Annotations of a GitHub workflow: one command a line on standard output.

Source of the form: GitHub's page "Workflow commands for GitHub Actions".
"""

from __future__ import annotations

from collections.abc import Iterator

from fxlsp.cli.check.formats.checked import CheckedRun
from fxlsp.report.code_records import Severity
from fxlsp.report.codes import page_url
from fxlsp.report.problems import Problem

_COMMANDS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "notice", "hint": "notice"}


def github_lines(run: CheckedRun) -> Iterator[str]:
    """Yield ``::warning file=net.py,line=9,...,title=FX101::message`` for each problem."""
    for problem in run.problems:
        properties = {**_place(run, problem), "title": problem.code}
        written = ",".join(f"{name}={_escaped(value, ':,')}" for name, value in properties.items())
        message = _escaped(f"{problem.message}\n{page_url(problem.code)}")
        yield f"::{_COMMANDS[problem.severity]} {written}::{message}"


def _place(run: CheckedRun, problem: Problem) -> dict[str, str]:
    place = problem.location
    if place is None:
        return {}
    found = {"file": run.path(place.file)}
    if place.cell is not None:
        # The lines of a notebook's file are those of its JSON.
        return found
    found |= {"line": str(place.line), "endLine": str(place.end_line)}
    if place.line == place.end_line:
        # Columns are those of one line; the last one is inclusive.
        found |= {"col": str(place.column), "endColumn": str(max(place.column, place.end_column - 1))}
    return found


def _escaped(text: str, further: str = "") -> str:
    for character in "%\r\n" + further:
        text = text.replace(character, f"%{ord(character):02X}")
    return text
