"""``fxlsp summary``: parameters, FLOPs and output sizes of each module of one model."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from typing import Any

from fxlsp.cli.exit_codes import NOTHING_FOUND, report_failure
from fxlsp.cli.output.module_table import module_costs, summary_lines
from fxlsp.cli.tracing.jobs import CommandLineJob, trace_job
from fxlsp.cli.tracing.options import add_project_options
from fxlsp.cli.tracing.project import Projects
from fxlsp.cli.tracing.worker_pool import open_pool
from fxlsp.report.problems import SCHEMA, Failure
from fxlsp.report.report import Report


def add_parser(commands: Any) -> None:
    parser = commands.add_parser("summary", help="show what each module of one model costs")
    parser.add_argument("target", metavar="TARGET", help="file.py:Name or package.module:Name")
    parser.add_argument("--init", metavar="EXPR", help="the expression that makes the model: 'Net(10, hidden=128)'")
    parser.add_argument("--inputs", metavar="EXPR", help="the arguments of its call, or their sizes: '(1, 3, 32, 32)'")
    parser.add_argument("--all", action="store_true", help="a row for each module, also for equal ones in a container")
    parser.add_argument("--format", choices=["table", "json"], default="table")
    add_project_options(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    job = CommandLineJob(arguments.target, arguments.init, arguments.inputs)
    outcome = asyncio.run(_trace(job, Projects(arguments.python, arguments.profile, arguments.tracer)))
    if isinstance(outcome, Failure):
        return report_failure(outcome, arguments.format)
    if arguments.format == "json":
        modules = [cost.to_json() for cost in module_costs(outcome).values()]
        sys.stdout.write(json.dumps({"schema": SCHEMA, "target": outcome.target, "modules": modules}) + "\n")
    else:
        sys.stdout.writelines(f"{line}\n" for line in summary_lines(outcome, unfolded=arguments.all))
    return NOTHING_FOUND


async def _trace(job: CommandLineJob, projects: Projects) -> Report | Failure:
    async with open_pool(jobs=1) as traces:
        return await trace_job(job, projects, traces)
