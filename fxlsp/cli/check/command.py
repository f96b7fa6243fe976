"""``fxlsp check``: the problems of all models in files and folders."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any

from fxlsp.cli.check.candidates import FoundFile, find_models
from fxlsp.cli.check.results import CheckResults, ModelEntry
from fxlsp.cli.check.runner import run_check
from fxlsp.cli.check.suppression import Suppressions
from fxlsp.cli.exit_codes import exit_code, report_failure
from fxlsp.cli.output.problems import concise_line, counted_by_severity, full_lines
from fxlsp.cli.tracing.options import add_project_options
from fxlsp.cli.tracing.project import Projects
from fxlsp.cli.tracing.worker_pool import open_pool
from fxlsp.cli.tracing.workspace_files import WorkspaceFiles, python_files
from fxlsp.engine.settings.interpreters import InterpreterError
from fxlsp.ide.render.numbers import counted
from fxlsp.report.problems import Problem


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("check", help="show the problems of all models in files and folders")
    parser.add_argument("paths", metavar="PATH", nargs="*", default=["."], help="files and folders (default: .)")
    parser.add_argument("--format", choices=["full", "concise", "json"], default="full")
    add_project_options(parser)
    parser.add_argument("--jobs", metavar="N", type=_positive, help="traces at once (default: cores less one)")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    began = time.monotonic()
    projects = Projects(arguments.python, arguments.profile, arguments.tracer)
    try:
        files, unreadable = _find(arguments.paths, projects)
        found_at = time.monotonic()
        results = asyncio.run(_trace_files(files, projects, arguments.jobs))
    except InterpreterError as error:
        return report_failure(error.failure, arguments.format)
    if results.no_interpreter is not None:
        return report_failure(results.no_interpreter, arguments.format)
    results.unreadable = unreadable
    results.suppressions = Suppressions(files, projects)
    ended = time.monotonic()
    timing = {"find": found_at - began, "trace": ended - found_at, "total": ended - began}
    timing_ms = {stage: round(1000 * seconds, 1) for stage, seconds in timing.items()}
    sys.stdout.writelines(f"{line}\n" for line in _lines(results, timing_ms, arguments.format))
    return exit_code(results.problems())


def _find(paths: list[str], projects: Projects) -> tuple[list[FoundFile], list[Problem]]:
    """Return the files that contain models, and problems of those that cannot be read."""
    chosen = list(python_files(paths))
    files = WorkspaceFiles(paths)
    found = [find_models(path, projects.at(os.path.dirname(path)).settings, files) for path in chosen]
    return [each for each in found if isinstance(each, FoundFile)], [
        each for each in found if isinstance(each, Problem)
    ]


async def _trace_files(files: list[FoundFile], projects: Projects, jobs: int | None) -> CheckResults:
    progress = _ProgressLine()
    try:
        async with open_pool(jobs) as traces:
            return await run_check(files, projects, traces, lambda name: progress.show(f"traced {name}"))
    finally:
        progress.clear()


class _ProgressLine:
    """Line on standard error that is overwritten while a command works.

    Nothing is written where standard error is not a terminal.
    """

    def __init__(self) -> None:
        self._visible = sys.stderr.isatty()

    def show(self, text: str) -> None:
        if self._visible:
            sys.stderr.write(f"\r\033[K{text[:100]}")
            sys.stderr.flush()

    def clear(self) -> None:
        self.show("")


def _lines(results: CheckResults, timing_ms: dict[str, float], output_format: str) -> Iterator[str]:
    if output_format == "json":
        yield json.dumps(results.to_json(timing_ms))
        return
    problems = results.problems()
    if output_format == "concise":
        yield from map(concise_line, problems)
        return
    for problem in problems:
        yield from full_lines(problem, results.recipe_of(problem))
        yield ""
    yield _summary(results.entries(), problems)


def _summary(entries: Iterable[ModelEntry], problems: list[Problem]) -> str:
    """Return ``5 models: 3 traced, 2 covered; no problems``."""
    counts = Counter(entry.status for entry in entries)
    parts = ", ".join(f"{count} {status}" for status, count in counts.items())
    models = counted(sum(counts.values()), "model") + (f": {parts}" if parts else "")
    return f"{models}; {counted_by_severity(problems)}"


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return int(text)
