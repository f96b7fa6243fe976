"""A first trace of a small model, run as an editor would run it."""

from __future__ import annotations

import asyncio
import logging
import os
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from fxlsp.cli.doctor.finding import DoctorFinding
from fxlsp.engine.connection.connection import Outcome
from fxlsp.engine.connection.supervisor_client import StartError, SupervisorClient
from fxlsp.engine.settings.interpreters import Interpreter
from fxlsp.engine.settings.settings import Settings
from fxlsp.report.report import Environment, Report
from fxlsp.wire.messages import RecipeRequest, TraceRequest, TraceTarget

_MODEL = """\
import torch
from torch import nn


class Tiny(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(3, 4, 3)
        self.head = nn.Linear(4, 10)

    def forward(self, x):
        return self.head(self.conv(x).relu().mean((2, 3)))
"""
_SHAPE = [2, 10]
"""Shape of the model's output."""
_REFUSED = {
    "files": "changes of files that are not temporary",
    "calls": "connections, programs and signals to other processes",
}
_STAGES = ("load", "search", "construct", "trace", "values", "checks")


@dataclass
class FirstTrace:
    """Result of the first trace."""

    torch: list[DoctorFinding] = field(default_factory=list)
    """Whether the tracing process starts."""
    traced: list[DoctorFinding] = field(default_factory=list)
    environment: Environment | None = None
    timing_ms: dict[str, float] = field(default_factory=dict)


def first_trace(interpreter: Interpreter, settings: Settings, advice: str) -> FirstTrace:
    """
    Args:
        advice: what to do where the interpreter cannot trace.
    """
    with tempfile.TemporaryDirectory(prefix="fxlsp-doctor-") as folder:
        path = os.path.join(os.path.realpath(folder), "tiny.py")
        with open(path, "w", encoding="utf-8") as file:
            file.write(_MODEL)
        with _captured_warnings() as remarks:
            result = asyncio.run(_started_and_traced(interpreter, _request(path, settings), advice))
    result.torch += (DoctorFinding("torch", "warning", remark) for remark in remarks)
    return result


def _request(path: str, settings: Settings) -> TraceRequest:
    return TraceRequest(
        TraceTarget("Tiny", file=path),
        RecipeRequest("Tiny()", "torch.randn(2, 3, 8, 8)", "option"),
        roots=(os.path.dirname(path),),
        limits=settings.limits,
    )


async def _started_and_traced(interpreter: Interpreter, request: TraceRequest, advice: str) -> FirstTrace:
    result, supervisor = FirstTrace(), SupervisorClient(interpreter.path)
    try:
        await _start(supervisor, result, advice)
        if result.environment is not None:
            await _trace(supervisor, request, result)
    finally:
        await supervisor.close()
    return result


async def _start(supervisor: SupervisorClient, result: FirstTrace, advice: str) -> None:
    began = time.monotonic()
    try:
        environment = await supervisor.start()
    except StartError as error:
        result.torch.append(DoctorFinding("torch", "error", str(error), advice=advice))
        return
    seconds = time.monotonic() - began
    result.environment, result.timing_ms["start"] = environment, round(seconds * 1000, 1)
    message = f"torch {environment.torch} under Python {environment.python} is supported; ready after {seconds:.1f} s"
    result.torch.append(DoctorFinding("torch", "ok", message))
    result.torch.append(containment(supervisor.contained))


def containment(contained: tuple[str, ...]) -> DoctorFinding:
    """Return what keeps a model's code from changing files and from reaching other programs.

    Args:
        contained: What the operating system itself refuses, as in :class:`~fxlsp.wire.messages.Hello`.
    """
    refused = [_REFUSED[name] for name in _REFUSED if name in contained]
    left = [_REFUSED[name] for name in _REFUSED if name not in contained]
    if not left:
        return DoctorFinding("containment", "ok", f"the system refuses {' and '.join(refused)} to a model's code")
    message = f"Python refuses {' and '.join(left)} to a model's code, the system does not: native code could"
    if not sys.platform.startswith("linux"):
        return DoctorFinding("containment", "ok", message)
    advice = "a kernel with Landlock (5.13 or later) and seccomp refuses them, unless a container's rules forbid that"
    return DoctorFinding("containment", "warning", message, advice=advice)


async def _trace(supervisor: SupervisorClient, request: TraceRequest, result: FirstTrace) -> None:
    began = time.monotonic()
    outcome = await supervisor.trace(request)
    milliseconds = (time.monotonic() - began) * 1000
    result.timing_ms["first trace"] = round(milliseconds, 1)
    result.traced.append(_finding(outcome, milliseconds))
    if outcome.report is not None:
        spent = outcome.report.timing_ms
        result.timing_ms |= {stage: round(spent[stage], 1) for stage in _STAGES if stage in spent}


def _finding(outcome: Outcome, milliseconds: float) -> DoctorFinding:
    report = outcome.report
    if report is None:
        message = outcome.failure.message if outcome.failure is not None else "there was no answer"
        return DoctorFinding("first trace", "error", message, advice=_REPORT)
    mismatch = _mismatch(report)
    if mismatch is not None:
        return DoctorFinding("first trace", "error", f"a small model was traced wrongly: {mismatch}", advice=_REPORT)
    spent = report.timing_ms
    details = tuple(f"{stage:<9}  {spent[stage]:7.1f} ms" for stage in _STAGES if stage in spent)
    message = f"a small model was traced in {milliseconds:.0f} ms, {len(report.nodes)} nodes, every shape known"
    return DoctorFinding("first trace", "ok", message, details)


_REPORT = "send what this command prints to the project: fxlsp cannot trace anything like this"


def _mismatch(report: Report) -> str | None:
    """Return what differs from the expected report; None if nothing does."""
    if report.verdict.error is not None:
        return f"{report.verdict.error.type}: {report.verdict.error.message}"
    output = report.nodes[-1].output if report.nodes else None
    if output is None or output.get("shape") != _SHAPE:
        return f"it gives {output}, not a tensor of shape {_SHAPE}"
    return None if report.complete else "some of its shapes are not known"


@contextmanager
def _captured_warnings() -> Iterator[list[str]]:
    """Yield a list that collects the supervisor's warnings in place of the log."""
    log = logging.getLogger("fxlsp.worker")
    messages: list[str] = []
    handler = logging.Handler(logging.WARNING)
    handler.emit = lambda record: messages.append(record.getMessage())  # type: ignore[method-assign]
    log.addHandler(handler)
    propagates, log.propagate = log.propagate, False
    try:
        yield messages
    finally:
        log.propagate = propagates
        log.removeHandler(handler)
