"""Carrying out a request in a process that was made for it."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ..report.wire import Message, encode
from .command_line import let_arguments_be_missing
from .job import Job
from .second import Second


def carry_out(request: Message, second: Second, send: Callable[[bytes], None]) -> Message:
    """The answer to a request, without its number; ``send`` takes the frames to send before it."""

    def say_stage(name: str) -> None:
        send(encode({"type": "stage", "id": request["id"], "name": name}))

    return job_of(request, say_stage).run(second)


def job_of(request: Message, say_stage: Callable[[str], None]) -> Job:
    """The job of a request, in a process that now passes for the script that it names."""
    sys.argv = [request["target"].get("file") or request["target"].get("module") or ""]
    let_arguments_be_missing()
    return Job(request, say_stage)


def say_nothing(stage: str) -> None:
    """The stages of the second pass are nobody's business."""
