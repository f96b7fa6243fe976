"""Program of a forked worker: prepare, execute one request, send one report, exit."""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import sys
import traceback
from typing import NoReturn

import torch

from ....wire.messages import Ready, RecoveredMessage, TraceRequest
from ...isolation.child_processes.crash_dump import arrange_crash_dump
from ...isolation.child_processes.fds import EXIT_INTERNAL_ERROR, WorkerPipes, await_request, write_all
from ...isolation.child_processes.lifetime import die_with_parent
from ...isolation.child_processes.side_process import WaitingSideProcess
from ...isolation.sandbox.audit import refuse_side_effects
from ...isolation.sandbox.containment import Containment
from ...isolation.sandbox.resource_limits import limit_resources
from ...isolation.torch_private import compile_in_process
from ...job.load import RequestLoad, StageCallback
from ...job.recovery_job import RecoveryJob
from .forking_load import ForkingLoad
from .request_execution import (
    Answer,
    answer_of,
    begin_if_settled,
    ignore_stage,
    new_load,
    recovered,
    stage_reporter,
)
from .warmup import warm_up_plain_pass, warm_up_recovering_pass

STACK_SIGNAL = signal.SIGUSR1
"""Signal that makes a worker write its current stack to its pipe."""


def run_worker(pipes: WorkerPipes, scratch: str, containment: Containment) -> NoReturn:
    """Prepare a forked process, wait for one request, execute it and exit."""
    # Must come first: once the parent has used OpenMP, computations in this process would wait for threads that were
    # not forked.
    torch.set_num_threads(1)
    os.setsid()
    die_with_parent(os.getppid())
    pipes.redirect()
    # Before the side process is forked: a process can signal those only that share its restriction.
    containment.apply(scratch)
    # The process lives for one trace: collecting costs more than it would free.
    gc.disable()
    exit_really = os._exit
    try:
        compile_in_process()
        with _recovery_process(pipes, scratch) as recovery:
            # A forked process copies each page when it first writes to it. A trace done now, before a request waits,
            # does most of that: measured, the next trace takes half the time.
            warm_up_plain_pass()
            write_all(pipes.reports, Ready().encoded())
            request = await_request(pipes.jobs)
            arrange_crash_dump(pipes.stack, request.limits.seconds)
            faulthandler.register(STACK_SIGNAL, file=pipes.stack, all_threads=False)
            refuse_side_effects(scratch)
            limit_resources(request.limits)
            message = _answer(request, recovery, pipes, scratch)
        write_all(pipes.reports, message.encoded())
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        # An internal error: its traceback goes to the log through standard error.
        traceback.print_exc()
        sys.stderr.flush()
        exit_really(EXIT_INTERNAL_ERROR)
    exit_really(0)


def _answer(request: TraceRequest, recovery: WaitingSideProcess, pipes: WorkerPipes, scratch: str) -> Answer:
    """Return the answer to the request; after a resume, to the request received then."""

    def send(frame: bytes) -> None:
        write_all(pipes.reports, frame)

    def stage_reporter_of(request: TraceRequest) -> StageCallback:
        return stage_reporter(request, send)

    load = new_load(request, stage_reporter_of(request))
    begin_if_settled(recovery, request)
    forking = ForkingLoad(load, pipes, scratch, recovery.abandon, stage_reporter_of)
    forking.run()
    if not forking.is_resumed or load.request.frontend is not None:
        return answer_of(load, recovery, send)
    with _resumed_recovery_process(pipes, load) as recovery:
        begin_if_settled(recovery, load.request)
        return answer_of(load, recovery, send)


def _recovery_process(pipes: WorkerPipes, scratch: str) -> WaitingSideProcess:
    """Return the side process of the recovering pass.

    It is forked before either process prepares itself: after that, both would copy their pages once more.
    """

    def work(requests: int) -> RecoveredMessage:
        for descriptor in (pipes.jobs, pipes.reports, pipes.checkpoints):
            os.close(descriptor)
        warm_up_recovering_pass()
        request = await_request(requests)
        refuse_side_effects(scratch)
        limit_resources(request.limits)
        return recovered(request)

    return WaitingSideProcess(work, lambda requests: _recover_anew(pipes, requests))


def _recover_anew(pipes: WorkerPipes, requests: int) -> RecoveredMessage:
    """Run the recovering pass of another recipe, in a process that was forked after a trace by the first one."""
    os.close(pipes.reports)
    return recovered(await_request(requests))


def _resumed_recovery_process(pipes: WorkerPipes, load: RequestLoad) -> WaitingSideProcess:
    """Return the side process of a worker that was resumed from a checkpoint.

    Unlike in :func:`_recovery_process`, it is forked after the load, which both processes use: loaded separately,
    neither would use what the checkpoint has imported.
    """

    def work(requests: int) -> RecoveredMessage:
        os.close(pipes.reports)
        request = await_request(requests)
        load.request = request
        load.timing.restart("load", ignore_stage)
        return RecoveryJob(load).run()

    return WaitingSideProcess(work, lambda requests: _recover_anew(pipes, requests))
