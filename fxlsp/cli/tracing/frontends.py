"""``--frontends``: the verdicts of torch.export and torch.compile on a model that was traced."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

from fxlsp.cli.tracing.jobs import CommandLineJob, trace_request
from fxlsp.cli.tracing.notebooks import in_cells
from fxlsp.cli.tracing.project import Projects
from fxlsp.cli.tracing.targets import parse_target
from fxlsp.cli.tracing.worker_pool import TracePool
from fxlsp.engine.connection.connection import Outcome
from fxlsp.report.frontends import FrontendName, FrontendProblem, FrontendVerdict, OtherFrontend
from fxlsp.report.report import Report

NAMES: tuple[FrontendName, ...] = ("fx", *get_args(OtherFrontend))
_LEAST_SECONDS = 60.0
"""Time limit of each front end, unless the user's is longer: to import torch._dynamo alone takes seconds."""


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


async def with_frontends(
    report: Report, names: Sequence[FrontendName], job: CommandLineJob, projects: Projects, traces: TracePool
) -> Report:
    """Return a report with the verdicts of front ends, each asked in a process of its own, one after the other.

    Args:
        report: of the job; its recipe makes and feeds the model.
    """
    verdicts = [
        _of_torch_fx(report) if name == "fx" else await _verdict(report, name, job, projects, traces) for name in names
    ]
    return replace(report, frontends=in_cells(tuple(verdicts)))


async def _verdict(
    report: Report, name: OtherFrontend, job: CommandLineJob, projects: Projects, traces: TracePool
) -> FrontendVerdict:
    target = parse_target(job.target)
    project = projects.at(target.folder)
    request = trace_request(target, report.recipe, project)
    limits = replace(request.limits, seconds=max(request.limits.seconds, _LEAST_SECONDS))
    outcome = await traces.trace(project.python, replace(request, frontend=name, limits=limits))
    return outcome.frontend or _without_verdict(name, outcome)


def _without_verdict(name: OtherFrontend, outcome: Outcome) -> FrontendVerdict:
    message = "no verdict arrived" if outcome.failure is None else outcome.failure.message
    problem = FrontendProblem(
        message.partition("\n")[0], message, None if outcome.failure is None else outcome.failure.location
    )
    if outcome.died:
        return FrontendVerdict(name, "crashed", "crashed", (problem,))
    return FrontendVerdict(name, "unavailable", "could not be asked", (problem,))


def _of_torch_fx(report: Report) -> FrontendVerdict:
    error = report.verdict.error
    if error is None:
        return FrontendVerdict("fx", "ok", "traceable")
    message = error.message or error.type
    problem = FrontendProblem(message.partition("\n")[0], message, error.location)
    return FrontendVerdict("fx", "problem", "1 problem", (problem,))
