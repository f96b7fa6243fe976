"""Carrying out a request in a process that was made for it."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ...wire.messages import FailureMessage, ReportMessage, Stage, TraceRequest
from ..building.targets import is_settled
from ..processes.side_process import RecoveryRunner
from ..sandbox.argv import make_arguments_optional
from ..trace.job import TraceJob
from ..trace.load import RequestLoad, StageCallback


def carry_out(
    request: TraceRequest, second: RecoveryRunner, send: Callable[[bytes], None]
) -> ReportMessage | FailureMessage:
    """The answer to a request; ``send`` takes the frames to send before it."""
    load = load_of(request, say_stages(request, send))
    if is_settled(request):
        second.begin(request)
    load.run()
    return TraceJob(load).run(second)


def job_of(request: TraceRequest, report_stage: StageCallback) -> TraceJob:
    """The job of a request."""
    load = load_of(request, report_stage)
    load.run()
    return TraceJob(load)


def load_of(request: TraceRequest, report_stage: StageCallback) -> RequestLoad:
    """What is to be loaded for a request, in a process that now passes for the script that it names."""
    sys.argv = [request.target.file or request.target.module or ""]
    make_arguments_optional()
    return RequestLoad(request, report_stage)


def say_stages(request: TraceRequest, send: Callable[[bytes], None]) -> StageCallback:
    """Sends the stages of a request as it enters them."""
    return lambda name: send(Stage(request.id, name).encoded())


def say_nothing(stage: str) -> None:
    """The stages of the second pass are nobody's business."""
