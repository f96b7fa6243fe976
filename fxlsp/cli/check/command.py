"""``fxlsp check``: the problems of all models in files and folders."""

from __future__ import annotations

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from fxlsp.cli.check.baseline import Baseline, RunScope
from fxlsp.cli.check.candidates import FoundFile, find_models
from fxlsp.cli.check.fixing import AppliedFix, apply_fixes
from fxlsp.cli.check.formats.output import FORMATS, output
from fxlsp.cli.check.results import CheckResults
from fxlsp.cli.check.runner import run_check
from fxlsp.cli.check.selection import CodeSelection, changed_since, code_prefixes, shard
from fxlsp.cli.check.suppression import Suppressions
from fxlsp.cli.check.termination import Termination
from fxlsp.cli.check.unchecked import ended_message, strict_message
from fxlsp.cli.exit_codes import NOT_CHECKED, NOTHING_FOUND, PROBLEMS_FOUND, UsageError, exit_code, report_failure
from fxlsp.cli.output.excerpts import shown_path
from fxlsp.cli.tracing.frontend_verdicts import add_frontends_option
from fxlsp.cli.tracing.options import add_project_options
from fxlsp.cli.tracing.project import Projects
from fxlsp.cli.tracing.worker_pool import open_pool
from fxlsp.cli.tracing.workspace_files import WorkspaceFiles, python_files, used_frontends
from fxlsp.engine.settings.interpreters import InterpreterError
from fxlsp.ide.render.numbers import counted
from fxlsp.report.frontends import FrontendName
from fxlsp.report.problems import Problem

BASELINE_MODES = ("use", "strict", "write", "update", "prune")


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("check", help="show the problems of all models in files and folders")
    parser.add_argument("paths", metavar="PATH", nargs="*", default=["."], help="files and folders (default: .)")
    add_project_options(parser)
    parser.add_argument("--jobs", metavar="N", type=_positive, help="traces at once (default: cores less one)")
    parser.add_argument("--fix", action="store_true", help="write the fixes that leave what a model computes unchanged")
    parser.add_argument("--exit-zero", action="store_true", help="exit with 0 whatever problems there are")
    parser.add_argument("--strict", action="store_true", help="exit with 3 if a model could not be checked")
    add_frontends_option(parser)
    _add_selection(parser)
    _add_output(parser)
    parser.set_defaults(run=run)


def _add_selection(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("what to report")
    for option, text in (
        ("--select", "problem codes or their beginnings, with commas: FX4,FX101"),
        ("--ignore", "problem codes that are not reported; the longer beginning counts"),
    ):
        group.add_argument(option, metavar="CODES", type=code_prefixes, default=(), help=text)
    group.add_argument("--diff", metavar="REV", help="files that differ from a revision of git, and what imports them")
    group.add_argument("--shard", metavar="I/N", type=shard, help="the I-th of N shares of the files")
    group.add_argument("--baseline", metavar="FILE", type=Path, help="report no problems that this file lists")
    text = (
        "use: hide what the baseline lists; strict: fail too if it lists what is gone; write: make it; "
        "update: make it anew; prune: take out what is gone (default: use)"
    )
    group.add_argument("--baseline-mode", choices=BASELINE_MODES, default="use", help=text)


def _add_output(parser: argparse.ArgumentParser) -> None:
    group = parser.add_argument_group("output")
    group.add_argument("--format", choices=FORMATS, default="full")
    group.add_argument("-o", "--output", metavar="FILE", type=Path, help="write the results there")
    group.add_argument("--statistics", action="store_true", help="show how many problems each code has")


def run(arguments: argparse.Namespace) -> int:
    projects = Projects(arguments.python, arguments.profile, arguments.tracer)
    check = _Check(arguments, projects)
    try:
        # No problem of another front end has a fix.
        results = check.run(() if arguments.fix else arguments.frontends)
        if arguments.fix and not results.is_incomplete:
            fixed = apply_fixes(results.at_each_place(), results.document)
            _report_fixes(fixed)
            if fixed or arguments.frontends:
                results = check.run(arguments.frontends)
    except InterpreterError as error:
        return report_failure(error.failure, arguments.format)
    if results.no_interpreter is not None:
        return report_failure(results.no_interpreter, arguments.format)
    if arguments.baseline_mode in ("write", "update", "prune"):
        if results.is_incomplete:
            raise UsageError(f"the check was ended early, so {arguments.baseline} is as it was")
        return _write_baseline(arguments, results, check.scope)
    _write(output(results, check.timing_ms, arguments.format, statistics=arguments.statistics), arguments.output)
    code = exit_code(results.problems())
    if results.is_incomplete:
        sys.stderr.write(f"fxlsp: {ended_message(results)}\n")
        code = code or NOT_CHECKED
    elif results.baseline is not None:
        code = max(code, _report_stale(results.baseline, check.scope, arguments.baseline_mode))
    if arguments.strict and not results.is_incomplete:
        code = code or _report_unchecked(results)
    return NOTHING_FOUND if arguments.exit_zero else code


def _report_unchecked(results: CheckResults) -> int:
    """Report on standard error what ``--strict`` fails for; return the exit code of that."""
    message = strict_message(results)
    if message is None:
        return NOTHING_FOUND
    sys.stderr.write(f"fxlsp: {message}\n")
    return NOT_CHECKED


class _Check:
    """One command line, which is run again after fixes were written."""

    def __init__(self, arguments: argparse.Namespace, projects: Projects) -> None:
        """
        Raises:
            UsageError: options do not go together, or the baseline cannot be read.
        """
        self._arguments = arguments
        self._projects = projects
        self._selection = CodeSelection(arguments.select, arguments.ignore)
        self._baseline = _baseline(arguments.baseline, arguments.baseline_mode)
        self.scope = RunScope(frozenset(), self._selection)
        self.timing_ms: dict[str, float] = {}

    def run(self, frontends: Sequence[FrontendName]) -> CheckResults:
        """Find and trace the models, ask other front ends about them, and return the results.

        Raises:
            UsageError: a path does not exist, or git has no such revision.
            InterpreterError: the chosen interpreter cannot be used.
        """
        arguments, began = self._arguments, time.monotonic()
        chosen = list(python_files(arguments.paths))
        if arguments.diff is not None:
            chosen = changed_since(arguments.diff, chosen)
        if arguments.shard is not None:
            chosen = [path for path in chosen if arguments.shard.includes(path, os.getcwd())]
        files, unreadable = _find(chosen, arguments.paths, self._projects)
        found_at = time.monotonic()
        termination = Termination()
        # Before this there is nothing to print.
        with termination.at_signal():
            results = asyncio.run(_trace_files(files, self._projects, arguments.jobs, frontends, termination))
        if results.environment is not None:
            results.frontend_uses = used_frontends(arguments.paths, frontends, results.environment.torch)
        self.scope = RunScope(frozenset(chosen), self._selection, results.frontend_scope())
        results.unreadable = unreadable
        results.suppressions = Suppressions(files, self._projects, self._selection)
        # What is written into a baseline is what is found without it.
        results.baseline = self._baseline
        ended = time.monotonic()
        timing = {"find": found_at - began, "trace": ended - found_at, "total": ended - began}
        self.timing_ms = {stage: round(1000 * seconds, 1) for stage, seconds in timing.items()}
        return results


def _baseline(path: Path | None, mode: str) -> Baseline | None:
    if path is None:
        if mode != "use":
            raise UsageError(f"--baseline-mode {mode} needs --baseline FILE")
        return None
    if mode == "write":
        if path.exists():
            raise UsageError(f"{path} is there already: --baseline-mode update makes it anew")
        return Baseline(path)
    return Baseline.read(path)


def _write_baseline(arguments: argparse.Namespace, results: CheckResults, scope: RunScope) -> int:
    baseline = results.baseline
    assert baseline is not None
    results.at_each_place()
    is_pruning = arguments.baseline_mode == "prune"
    try:
        count = baseline.write_pruned(scope) if is_pruning else baseline.write_found(scope)
    except OSError as error:
        raise UsageError(f"{baseline.path} cannot be written: {error}") from error
    sys.stderr.write(f"fxlsp: {baseline.path} lists {counted(count, 'problem')}\n")
    return NOTHING_FOUND


def _report_stale(baseline: Baseline, scope: RunScope, mode: str) -> int:
    """Report what the baseline lists although it is gone; return the exit code of that."""
    stale = baseline.stale(scope)
    if not stale:
        return NOTHING_FOUND
    for entry, count in stale:
        where = f"{entry.file}: {entry.scope}" if entry.scope else entry.file
        sys.stderr.write(f"fxlsp: gone, {counted(count, 'time')}: {entry.code} in {where}: {entry.statement}\n")
    sys.stderr.write(f"fxlsp: --baseline-mode prune takes them out of {baseline.path}\n")
    return PROBLEMS_FOUND if mode == "strict" else NOTHING_FOUND


def _find(chosen: Iterable[str], paths: Sequence[str], projects: Projects) -> tuple[list[FoundFile], list[Problem]]:
    """Return the files that contain models, and problems of those that cannot be read."""
    files = WorkspaceFiles(paths)
    found = [find_models(path, projects.at(os.path.dirname(path)).settings, files) for path in chosen]
    return [each for each in found if isinstance(each, FoundFile)], [
        each for each in found if isinstance(each, Problem)
    ]


async def _trace_files(
    files: list[FoundFile],
    projects: Projects,
    jobs: int | None,
    frontends: Sequence[FrontendName],
    termination: Termination,
) -> CheckResults:
    progress = _ProgressLine()
    try:
        async with open_pool(jobs) as traces:
            return await run_check(files, projects, traces, progress.show, frontends, termination)
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


def _report_fixes(fixed: Sequence[AppliedFix]) -> None:
    for each in fixed:
        sys.stderr.write(f"fxlsp: fixed {shown_path(each.path)}:{each.line}: {each.title}\n")


def _write(text: str, path: Path | None) -> None:
    if path is None:
        sys.stdout.write(text)
        return
    try:
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{path} cannot be written: {error}") from error


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number above 0")
    return int(text)
