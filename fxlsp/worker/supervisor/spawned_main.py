"""The program of a process that gets ready by itself, carries out one request and ends: a child without fork.

Uses nothing that Windows lacks. Whoever started it speaks to it on its standard input and hears it on its standard
output; what the traced code prints goes to its standard error.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

import torch

from ...wire.messages import (
    FailureMessage,
    Provisional,
    Ready,
    RecoveredMessage,
    ReportMessage,
    TraceRequest,
)
from ..processes.crash_dump import speak_before_dying
from ..processes.fds import silenced, write_all
from ..processes.side_process import InlineRunner
from ..sandbox.audit import refuse_side_effects
from ..torch_private import compile_without_processes
from .command_reader import CommandReader
from .request_execution import ignore_stage, loaded_job, run_request
from .warmup import preload, prepare_torch


def run_spawned_worker(reader: CommandReader, reports: int, stack: int, scratch: str) -> NoReturn:
    """Get ready, and do what is ordered."""
    exit_really = os._exit
    torch.set_num_threads(1)
    prepare_torch()
    # It lives for one trace: collecting costs more than what it would free.
    gc.disable()
    compile_without_processes()
    while True:
        write_all(reports, Ready().encoded())
        message = reader.next()
        if isinstance(message, TraceRequest):
            break
        preload(message.names)
    speak_before_dying(stack, message.limits.seconds)
    refuse_side_effects(scratch)
    write_all(reports, _answer(message, reports).encoded())
    sys.stdout.flush()
    sys.stderr.flush()
    exit_really(0)


def _answer(request: TraceRequest, reports: int) -> ReportMessage | FailureMessage:
    def send_fallback(answer: ReportMessage) -> None:
        write_all(reports, Provisional().encoded() + answer.encoded())

    def recover(completed: TraceRequest) -> RecoveredMessage:
        # What it prints has been printed in the first pass.
        with silenced():
            return loaded_job(completed, ignore_stage).recover()

    return run_request(request, InlineRunner(recover, send_fallback), lambda data: write_all(reports, data))
