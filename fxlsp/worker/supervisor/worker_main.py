"""The process that gets ready, does one job, writes one report and dies."""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import sys
import traceback
from typing import NoReturn

import torch

from ...wire.messages import FailureMessage, Ready, RecoveredMessage, ReportMessage, TraceRequest
from ..building.targets import is_settled
from ..processes.crash_dump import arrange_crash_dump
from ..processes.fds import EXIT_INTERNAL_ERROR, WorkerPipes, await_request, write_all
from ..processes.lifetime import die_with_parent
from ..processes.side_process import WaitingSideProcess
from ..sandbox.audit import refuse_side_effects
from ..torch_private import compile_in_process
from ..trace.job import TraceJob
from ..trace.load import RequestLoad, StageCallback
from .checkpoint import Holding
from .request_execution import job_of, load_of, say_nothing, say_stages
from .warmup import warm_up_first_pass, warm_up_second_pass

STACK_SIGNAL = signal.SIGUSR1
"""Makes a child write its running stack to its pipe."""


def become_child(pipes: WorkerPipes, scratch: str) -> NoReturn:
    """In a process just forked: get ready, wait for one request, carry it out and exit."""
    # First of all: after the parent used OpenMP, a child that computes would wait for threads that were not forked.
    torch.set_num_threads(1)
    os.setsid()
    die_with_parent(os.getppid())
    pipes.redirect()
    # It lives for one trace: collecting costs more than what it would free.
    gc.disable()
    exit_really = os._exit
    try:
        compile_in_process()
        with _second(pipes, scratch) as second:
            # A forked process copies each page as it first writes to it. A trace done now, while nobody waits for it,
            # does most of that: measured, the one that follows takes half the time.
            warm_up_first_pass()
            write_all(pipes.reports, Ready().encoded())
            request = await_request(pipes.jobs)
            arrange_crash_dump(pipes.stack, request.limits.seconds)
            faulthandler.register(STACK_SIGNAL, file=pipes.stack, all_threads=False)
            refuse_side_effects(scratch)
            message = _carried_out(request, second, pipes, scratch)
        write_all(pipes.reports, message.encoded())
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        # A fault of ours: its traceback goes to the log by way of standard error.
        traceback.print_exc()
        sys.stderr.flush()
        exit_really(EXIT_INTERNAL_ERROR)
    exit_really(0)


def _carried_out(
    request: TraceRequest, second: WaitingSideProcess, pipes: WorkerPipes, scratch: str
) -> ReportMessage | FailureMessage:
    """The answer. In a process that was forked meanwhile from a holder, it is that to another request."""

    def say_stage_of(request: TraceRequest) -> StageCallback:
        return say_stages(request, lambda data: write_all(pipes.reports, data))

    load = load_of(request, say_stage_of(request))
    if is_settled(request):
        second.begin(request)
    holding = Holding(load, pipes, scratch, second.abandon, say_stage_of)
    holding.run()
    if not holding.is_held:
        return TraceJob(load).run(second)
    with _held_second(pipes, load) as second:
        if is_settled(load.request):
            second.begin(load.request)
        return TraceJob(load).run(second)


def _second(pipes: WorkerPipes, scratch: str) -> WaitingSideProcess:
    """The process for the second pass.

    It is forked before either gets ready: after a fork both would copy their pages once more.
    """

    def work(requests: int) -> RecoveredMessage:
        for descriptor in (pipes.jobs, pipes.reports, pipes.checkpoints):
            os.close(descriptor)
        warm_up_second_pass()
        request = await_request(requests)
        refuse_side_effects(scratch)
        return job_of(request, say_nothing).recover()

    return WaitingSideProcess(work)


def _held_second(pipes: WorkerPipes, load: RequestLoad) -> WaitingSideProcess:
    """The same where the load comes from a holder: it is shared, since each on its own would have no other."""

    def work(requests: int) -> RecoveredMessage:
        os.close(pipes.reports)
        request = await_request(requests)
        load.request = request
        load.timing.restart("load", say_nothing)
        return TraceJob(load).recover()

    return WaitingSideProcess(work)
