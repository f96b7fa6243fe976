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
from ..processes.crash_dump import arrange_crash_dump
from ..processes.fds import silenced, write_all
from ..processes.side_process import InlineRunner
from ..sandbox.audit import refuse_side_effects
from ..torch_private import compile_in_process
from .command_reader import Orders
from .preloads import preload
from .request_execution import carry_out, job_of, say_nothing
from .torch_preparation import prepare_torch


def become_spare(orders: Orders, reports: int, stack: int, scratch: str) -> NoReturn:
    """Get ready, and do what is ordered."""
    exit_really = os._exit
    torch.set_num_threads(1)
    prepare_torch()
    # It lives for one trace: collecting costs more than what it would free.
    gc.disable()
    compile_in_process()
    while True:
        write_all(reports, Ready().encoded())
        order = orders.next()
        if isinstance(order, TraceRequest):
            break
        preload(order.names)
    arrange_crash_dump(stack, order.limits.seconds)
    refuse_side_effects(scratch)
    write_all(reports, _carried_out(order, reports).encoded())
    sys.stdout.flush()
    sys.stderr.flush()
    exit_really(0)


def _carried_out(request: TraceRequest, reports: int) -> ReportMessage | FailureMessage:
    def send_fallback(answer: ReportMessage) -> None:
        write_all(reports, Provisional().encoded() + answer.encoded())

    def second_pass(completed: TraceRequest) -> RecoveredMessage:
        # What it prints has been printed in the first pass.
        with silenced():
            return job_of(completed, say_nothing).recover()

    return carry_out(request, InlineRunner(second_pass, send_fallback), lambda data: write_all(reports, data))
