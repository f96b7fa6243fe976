"""Program of a spawned worker: import torch, execute one request, exit.

It uses nothing that Windows lacks. It receives messages on its standard input and sends them on its standard output;
what the traced code prints goes to standard error.
"""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn

import torch

from ....wire.messages import Provisional, Ready, RecoveredMessage, ReportMessage, TraceRequest
from ...isolation.child_processes.crash_dump import arrange_crash_dump
from ...isolation.child_processes.fds import silenced, write_all
from ...isolation.child_processes.side_process import InlineRunner
from ...isolation.sandbox.audit import refuse_side_effects
from ...isolation.sandbox.resource_limits import limit_resources
from ...isolation.torch_private import compile_in_process
from .command_reader import CommandReader
from .request_execution import Answer, recovered, run_request
from .warmup import preload, prepare_torch


def run_spawned_worker(reader: CommandReader, reports: int, stack: int, scratch: str) -> NoReturn:
    """Prepare torch, import packages as requested, execute one request and exit."""
    exit_really = os._exit
    torch.set_num_threads(1)
    prepare_torch()
    # The process lives for one trace: collecting costs more than it would free.
    gc.disable()
    compile_in_process()
    while True:
        write_all(reports, Ready().encoded())
        message = reader.next()
        if isinstance(message, TraceRequest):
            break
        preload(message.names)
    arrange_crash_dump(stack, message.limits.seconds)
    refuse_side_effects(scratch)
    limit_resources(message.limits)
    write_all(reports, _answer(message, reports).encoded())
    sys.stdout.flush()
    sys.stderr.flush()
    exit_really(0)


def _answer(request: TraceRequest, reports: int) -> Answer:
    def send_fallback(answer: ReportMessage) -> None:
        write_all(reports, Provisional().encoded() + answer.encoded())

    def recover(completed: TraceRequest) -> RecoveredMessage:
        # The output of the model's code was printed in the plain pass.
        with silenced():
            return recovered(completed)

    return run_request(request, InlineRunner(recover, send_fallback), lambda data: write_all(reports, data))
