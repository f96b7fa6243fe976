"""``fxlsp trace``: the graph of one model, or of each line of a batch."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from fxlsp.cli.exit_codes import UsageError, exit_code, report_failure
from fxlsp.cli.output.excerpts import location_text
from fxlsp.cli.output.node_table import graph_lines, path_lines
from fxlsp.cli.output.problems import full_lines
from fxlsp.cli.tracing.batch import trace_batch
from fxlsp.cli.tracing.frontend_verdicts import add_frontends_option, with_frontends
from fxlsp.cli.tracing.jobs import CommandLineJob, recorded_run, trace_job
from fxlsp.cli.tracing.notebooks import in_cells
from fxlsp.cli.tracing.options import add_project_options
from fxlsp.cli.tracing.project import Projects
from fxlsp.cli.tracing.targets import parse_target
from fxlsp.cli.tracing.worker_pool import open_pool
from fxlsp.report.frontends import FrontendName, FrontendProblem, FrontendVerdict
from fxlsp.report.problems import Failure
from fxlsp.report.report import Report
from fxlsp.source.recipes.recipes import RecordedRun

_EXAMPLES = """\
examples:
  fxlsp trace model.py:Net --inputs 'torch.randn(1, 3, 32, 32)'
  fxlsp trace torchvision.models:resnet18 --format paths
  fxlsp trace model.py:Net --frontends fx,export,compile
  fxlsp trace --batch targets.jsonl     lines of {"target": ..., "init"?: ..., "inputs"?: ...}
"""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "trace",
        help="show the graph that torch.fx records of one model",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("target", metavar="TARGET", nargs="?", help="file.py:Name or package.module:Name")
    parser.add_argument("--init", metavar="EXPR", help="the expression that makes the model: 'Net(10, hidden=128)'")
    parser.add_argument("--inputs", metavar="EXPR", help="the arguments of its call, or their sizes: '(1, 3, 32, 32)'")
    parser.add_argument("--format", choices=["table", "paths", "json"], default="table")
    add_frontends_option(parser)
    add_project_options(parser)
    parser.add_argument(
        "--batch",
        metavar="FILE",
        nargs="?",
        const="-",
        help="trace each line of FILE (standard input by default); one line of JSON each",
    )
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    if arguments.batch is not None:
        if arguments.target or arguments.init or arguments.inputs:
            raise UsageError("--batch takes targets, --init and --inputs from its lines alone")
        if arguments.frontends:
            raise UsageError("--frontends takes one TARGET, not --batch")
        return asyncio.run(
            trace_batch(arguments.batch, Projects(arguments.python, arguments.profile, arguments.tracer))
        )
    if arguments.target is None:
        raise UsageError("give a TARGET, or --batch")
    if arguments.frontends and arguments.format == "paths":
        raise UsageError("--frontends has verdicts in the formats table and json alone")
    job = CommandLineJob(arguments.target, arguments.init, arguments.inputs)
    projects = Projects(arguments.python, arguments.profile, arguments.tracer)
    outcome = asyncio.run(_trace(job, projects, arguments.frontends))
    if isinstance(outcome, Failure):
        return report_failure(outcome, arguments.format)
    _print_report(outcome, arguments.format, recorded_run(job, outcome.recipe, projects))
    return exit_code(outcome.problems)


async def _trace(job: CommandLineJob, projects: Projects, frontends: tuple[FrontendName, ...]) -> Report | Failure:
    async with open_pool(jobs=1) as traces:
        outcome = await trace_job(job, projects, traces, symbols=True)
        if isinstance(outcome, Failure) or not frontends:
            return outcome
        return in_cells(await with_frontends(outcome, frontends, parse_target(job.target), projects, traces))


def _print_report(report: Report, output_format: str, recorded: RecordedRun | None) -> None:
    if output_format == "json":
        _write([json.dumps(report.to_json())])
    elif output_format == "paths":
        _write(path_lines(report))
        _report_refusal(report)
    else:
        _write(graph_lines(report, recorded))
        if report.frontends:
            _write(["", *_frontend_lines(report.frontends)])
        for problem in report.problems:
            _write(["", *full_lines(problem)])


def _frontend_lines(verdicts: Sequence[FrontendVerdict]) -> Iterator[str]:
    """Yield a line for each front end, and below it one for each of its problems."""
    for verdict in verdicts:
        yield f"{verdict.frontend}: {verdict.summary}"
        yield from (f"  {_problem_line(problem)}" for problem in verdict.problems)


def _problem_line(problem: FrontendProblem) -> str:
    where = "" if problem.location is None else f"{location_text(problem.location)}: "
    code = "" if problem.code is None else f"{problem.code} "
    number = "" if problem.graph_break is None else f"{problem.graph_break}: "
    link = "" if problem.link is None else f" ({number}{problem.link})"
    return f"{where}{code}{problem.headline}{link}"


def _report_refusal(report: Report) -> None:
    """Write on standard error why the graph ends early, if it does.

    Its lines look like those of a whole graph.
    """
    error = report.verdict.error
    if error is not None:
        sys.stderr.write(f"fxlsp: torch.fx stopped here: {error.type}: {error.message}\n")


def _write(lines: list[str]) -> None:
    sys.stdout.write("\n".join(lines) + "\n")
