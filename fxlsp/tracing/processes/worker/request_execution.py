"""Execution of a request, shared by forked and spawned workers."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ....wire.messages import (
    FailureMessage,
    FrontendMessage,
    RecoveredMessage,
    ReportMessage,
    Stage,
    TraceRequest,
)
from ...isolation.child_processes.side_process import RecoveryRunner
from ...isolation.sandbox.argv import make_arguments_optional
from ...job.frontend_job import FrontendJob
from ...job.job import TraceJob
from ...job.load import RequestLoad, StageCallback
from ...job.recovery_job import RecoveryJob
from ...model.targets import guessed_request, is_settled

Answer = ReportMessage | FrontendMessage | FailureMessage
"""Last message of a worker."""


def run_request(request: TraceRequest, recovery: RecoveryRunner, send: Callable[[bytes], None]) -> Answer:
    """Return the answer to a request; ``send`` sends frames that precede it."""
    load = new_load(request, stage_reporter(request, send))
    begin_if_settled(recovery, request)
    load.run()
    return answer_of(load, recovery, send)


def answer_of(load: RequestLoad, recovery: RecoveryRunner, send: Callable[[bytes], None]) -> Answer:
    """Return the answer to the request of a load that has run."""
    if load.request.frontend is not None:
        return FrontendJob(load, load.request.frontend).run()
    return TraceJob(load, send).run(recovery)


def begin_if_settled(recovery: RecoveryRunner, request: TraceRequest) -> None:
    """Begin the recovering pass at once if it is known what the model is made and fed with.

    Other front ends have no such pass.
    """
    if request.frontend is not None:
        return
    guessed = guessed_request(request)
    if guessed is not None or is_settled(request):
        recovery.begin(guessed or request)


def recovered(request: TraceRequest) -> RecoveredMessage:
    """Load the files of a request with a complete recipe, and return the result of its recovering pass."""
    load = new_load(request, ignore_stage)
    load.run()
    return RecoveryJob(load).run()


def new_load(request: TraceRequest, report_stage: StageCallback) -> RequestLoad:
    """Return a request's load, and make this process look like the script it names."""
    sys.argv = [request.target.file or request.target.module or ""]
    make_arguments_optional()
    return RequestLoad(request, report_stage)


def stage_reporter(request: TraceRequest, send: Callable[[bytes], None]) -> StageCallback:
    """Return a function that sends each stage of a request as it starts."""
    return lambda name: send(Stage(request.id, name).encoded())


def ignore_stage(stage: str) -> None:
    """Ignore a stage: those of the recovering pass are not reported."""
