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
from ..processes.crash_dump import speak_before_dying
from ..processes.fds import FAULT, Pipes, await_request, write_all
from ..processes.lifetime import die_with_parent
from ..processes.side_process import WaitingSideProcess
from ..sandbox.audit import refuse_side_effects
from ..torch_private import compile_without_processes
from ..trace.job import Job
from ..trace.load import RequestLoad, SayStage
from .checkpoint import Checkpoint
from .request_execution import ignore_stage, loaded_job, new_load, stage_reporter
from .warmup import warm_up_plain_pass, warm_up_recovering_pass

STACK_SIGNAL = signal.SIGUSR1
"""Makes a child write its running stack to its pipe."""


def run_worker(pipes: Pipes, scratch: str) -> NoReturn:
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
        compile_without_processes()
        with _recovery_process(pipes, scratch) as recovery:
            # A forked process copies each page as it first writes to it. A trace done now, while nobody waits for it,
            # does most of that: measured, the one that follows takes half the time.
            warm_up_plain_pass()
            write_all(pipes.reports, Ready().encoded())
            request = await_request(pipes.jobs)
            speak_before_dying(pipes.stack, request.limits.seconds)
            faulthandler.register(STACK_SIGNAL, file=pipes.stack, all_threads=False)
            refuse_side_effects(scratch)
            message = _answer(request, recovery, pipes, scratch)
        write_all(pipes.reports, message.encoded())
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        # A fault of ours: its traceback goes to the log by way of standard error.
        traceback.print_exc()
        sys.stderr.flush()
        exit_really(FAULT)
    exit_really(0)


def _answer(
    request: TraceRequest, recovery: WaitingSideProcess, pipes: Pipes, scratch: str
) -> ReportMessage | FailureMessage:
    """The answer. In a process that was forked meanwhile from a holder, it is that to another request."""

    def stage_reporter_of(request: TraceRequest) -> SayStage:
        return stage_reporter(request, lambda data: write_all(pipes.reports, data))

    load = new_load(request, stage_reporter_of(request))
    if is_settled(request):
        recovery.begin(request)
    checkpoint = Checkpoint(load, pipes, scratch, recovery.let_go, stage_reporter_of)
    checkpoint.run()
    if not checkpoint.is_resumed:
        return Job(load).run(recovery)
    with _resumed_recovery_process(pipes, load) as recovery:
        if is_settled(load.request):
            recovery.begin(load.request)
        return Job(load).run(recovery)


def _recovery_process(pipes: Pipes, scratch: str) -> WaitingSideProcess:
    """The process for the second pass.

    It is forked before either gets ready: after a fork both would copy their pages once more.
    """

    def work(requests: int) -> RecoveredMessage:
        for descriptor in (pipes.jobs, pipes.reports, pipes.holders):
            os.close(descriptor)
        warm_up_recovering_pass()
        request = await_request(requests)
        refuse_side_effects(scratch)
        return loaded_job(request, ignore_stage).recover()

    return WaitingSideProcess(work)


def _resumed_recovery_process(pipes: Pipes, load: RequestLoad) -> WaitingSideProcess:
    """The same where the load comes from a holder: it is shared, since each on its own would have no other."""

    def work(requests: int) -> RecoveredMessage:
        os.close(pipes.reports)
        request = await_request(requests)
        load.request = request
        load.timing.restart("load", ignore_stage)
        return Job(load).recover()

    return WaitingSideProcess(work)
