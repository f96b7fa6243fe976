"""Execution of a request, shared by forked and spawned workers."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ...wire.messages import FailureMessage, ReportMessage, Stage, TraceRequest
from ..building.targets import guessed_request, is_settled
from ..processes.side_process import RecoveryRunner
from ..sandbox.argv import make_arguments_optional
from ..trace.job import TraceJob
from ..trace.load import RequestLoad, StageCallback


def run_request(
    request: TraceRequest, recovery: RecoveryRunner, send: Callable[[bytes], None]
) -> ReportMessage | FailureMessage:
    """Return the answer to a request; ``send`` sends frames that precede it."""
    load = new_load(request, stage_reporter(request, send))
    begin_if_settled(recovery, request)
    load.run()
    return TraceJob(load, send).run(recovery)


def begin_if_settled(recovery: RecoveryRunner, request: TraceRequest) -> None:
    """Begin the recovering pass at once if it is known what the model is made and fed with."""
    guessed = guessed_request(request)
    if guessed is not None or is_settled(request):
        recovery.begin(guessed or request)


def loaded_job(request: TraceRequest, report_stage: StageCallback) -> TraceJob:
    """Return the job of a request, whose files are loaded."""
    load = new_load(request, report_stage)
    load.run()
    return TraceJob(load, send_nothing)


def new_load(request: TraceRequest, report_stage: StageCallback) -> RequestLoad:
    """Return a request's load, and make this process look like the script it names."""
    sys.argv = [request.target.file or request.target.module or ""]
    make_arguments_optional()
    return RequestLoad(request, report_stage)


def stage_reporter(request: TraceRequest, send: Callable[[bytes], None]) -> StageCallback:
    """Return a function that sends each stage of a request as it starts."""
    return lambda name: send(Stage(request.id, name).encoded())


def send_nothing(frame: bytes) -> None:
    """Send no frame: the process that makes the report sends it."""


def ignore_stage(stage: str) -> None:
    """Ignore a stage: those of the recovering pass are not reported."""
