"""``--frontends``: the verdicts of torch.export and torch.compile on a model that was traced."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from fxlsp.cli.tracing.jobs import trace_request
from fxlsp.cli.tracing.project import Projects
from fxlsp.cli.tracing.targets import CommandLineTarget
from fxlsp.cli.tracing.worker_pool import TracePool
from fxlsp.engine.connection.frontend_requests import frontend_request, not_fed, verdict_of
from fxlsp.report.code_records import Trait
from fxlsp.report.codes import codes_with
from fxlsp.report.frontends import FrontendName, FrontendProblem, FrontendVerdict, OtherFrontend
from fxlsp.report.report import Report

NAMES: tuple[FrontendName, ...] = ("fx", *get_args(OtherFrontend))
_REFUSALS = codes_with(Trait.REFUSES)


def frontend_names(text: str) -> tuple[FrontendName, ...]:
    """Return the front ends of an option's text.

    Raises:
        argparse.ArgumentTypeError: it is not a list of front ends.

    Example:
        >>> frontend_names("fx, export")
        ('fx', 'export')
    """
    asked = dict.fromkeys(part.strip() for part in text.split(","))
    unknown = [part for part in asked if part not in NAMES]
    if unknown:
        raise argparse.ArgumentTypeError(f"'{unknown[0]}' is not one of {', '.join(NAMES)}")
    return tuple(name for name in NAMES if name in asked)


def add_frontends_option(parser: argparse.ArgumentParser) -> None:
    """Add ``--frontends``, none by default."""
    parser.add_argument(
        "--frontends",
        metavar="NAMES",
        type=frontend_names,
        default=(),
        help=f"whose verdicts to show, of {','.join(NAMES)}; each runs the model in a process of its own",
    )


async def with_frontends(
    report: Report, names: Sequence[FrontendName], target: CommandLineTarget, projects: Projects, traces: TracePool
) -> Report:
    """Return a report with the verdicts of front ends, each asked in a process of its own, one after the other.

    Args:
        report: of the target; its recipe makes and feeds the model.
        names: the front ends.
        target: the model.
        projects: settings and interpreters.
        traces: processes.
    """
    verdicts = [
        _of_torch_fx(report) if name == "fx" else await _verdict(report, name, target, projects, traces)
        for name in names
    ]
    return replace(report, frontends=tuple(verdicts))


async def _verdict(
    report: Report, name: OtherFrontend, target: CommandLineTarget, projects: Projects, traces: TracePool
) -> FrontendVerdict:
    if report.recipe.inputs is None:
        return not_fed(name)
    project = projects.at(target.folder)
    request = frontend_request(trace_request(target, report.recipe, project), report.recipe, name)
    return verdict_of(name, await traces.trace(project.python, request))


def _of_torch_fx(report: Report) -> FrontendVerdict:
    error = report.verdict.error
    if error is None:
        return FrontendVerdict("fx", "ok", "traceable")
    message = error.message or error.type
    refusals = (each for each in report.problems if each.code in _REFUSALS and each.location == error.location)
    code = next((each.code for each in refusals), None)
    problem = FrontendProblem(message.partition("\n")[0], message, error.location, code)
    return FrontendVerdict("fx", "problem", "1 problem", (problem,))
