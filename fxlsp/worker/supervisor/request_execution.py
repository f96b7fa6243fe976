"""Carrying out a request in a process that was made for it."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ...wire.messages import FailureMessage, ReportMessage, Stage, TraceRequest
from ..building.targets import is_settled
from ..processes.side_process import RecoveryRunner
from ..sandbox.argv import let_arguments_be_missing
from ..trace.job import Job
from ..trace.load import RequestLoad, SayStage


def run_request(
    request: TraceRequest, recovery: RecoveryRunner, send: Callable[[bytes], None]
) -> ReportMessage | FailureMessage:
    """The answer to a request; ``send`` takes the frames to send before it."""
    load = new_load(request, stage_reporter(request, send))
    if is_settled(request):
        recovery.begin(request)
    load.run()
    return Job(load).run(recovery)


def loaded_job(request: TraceRequest, report_stage: SayStage) -> Job:
    """The job of a request."""
    load = new_load(request, report_stage)
    load.run()
    return Job(load)


def new_load(request: TraceRequest, report_stage: SayStage) -> RequestLoad:
    """What is to be loaded for a request, in a process that now passes for the script that it names."""
    sys.argv = [request.target.file or request.target.module or ""]
    let_arguments_be_missing()
    return RequestLoad(request, report_stage)


def stage_reporter(request: TraceRequest, send: Callable[[bytes], None]) -> SayStage:
    """Sends the stages of a request as it enters them."""
    return lambda name: send(Stage(request.id, name).encoded())


def ignore_stage(stage: str) -> None:
    """The stages of the second pass are nobody's business."""
