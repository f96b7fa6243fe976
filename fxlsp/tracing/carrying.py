"""Carrying out a request in a process that was made for it."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ..report.wire import Message, encode
from .command_line import let_arguments_be_missing
from .job import Job
from .load import RequestLoad, SayStage
from .side_process import RecoveryRunner
from .targets import is_settled


def carry_out(request: Message, second: RecoveryRunner, send: Callable[[bytes], None]) -> Message:
    """The answer to a request, without its number; ``send`` takes the frames to send before it."""
    load = load_of(request, say_stages(request, send))
    if is_settled(request):
        second.begin(request)
    load.run()
    return Job(load).run(second)


def job_of(request: Message, say_stage: SayStage) -> Job:
    """The job of a request."""
    load = load_of(request, say_stage)
    load.run()
    return Job(load)


def load_of(request: Message, say_stage: SayStage) -> RequestLoad:
    """What is to be loaded for a request, in a process that now passes for the script that it names."""
    sys.argv = [request["target"].get("file") or request["target"].get("module") or ""]
    let_arguments_be_missing()
    return RequestLoad(request, say_stage)


def say_stages(request: Message, send: Callable[[bytes], None]) -> SayStage:
    """Sends the stages of a request as it enters them."""
    return lambda name: send(encode({"type": "stage", "id": request["id"], "name": name}))


def say_nothing(stage: str) -> None:
    """The stages of the second pass are nobody's business."""
