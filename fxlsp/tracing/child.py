"""The process that gets ready, does one job, writes one report and dies."""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import sys
import traceback
from typing import NamedTuple, NoReturn

import torch

from ..report.wire import Decoder, Message, encode
from .carrying import carry_out, job_of, say_nothing
from .death import die_with_parent
from .guard import refuse_side_effects
from .last_words import speak_before_dying
from .sibling import Partner
from .torch_private import compile_without_processes
from .warmup import warm_up_first_pass, warm_up_second_pass
from .writing import write_all

FAULT = 70
"""Exit status after an exception of ours."""
STACK_SIGNAL = signal.SIGUSR1
"""Makes a child write its running stack to its pipe."""


class Pipes(NamedTuple):
    """A child's ends."""

    jobs: int
    """Its one request arrives here."""
    reports: int
    stack: int
    output: int


def become_child(pipes: Pipes, scratch: str) -> NoReturn:
    """In a process just forked: get ready, wait for one request, carry it out and exit."""
    # First of all: after the parent used OpenMP, a child that computes would wait for threads that were not forked.
    torch.set_num_threads(1)
    os.setsid()
    die_with_parent(os.getppid())
    _redirect(pipes.output)
    # It lives for one trace: collecting costs more than what it would free.
    gc.disable()
    exit_really = os._exit
    try:
        compile_without_processes()
        with _second(pipes, scratch) as second:
            # A forked process copies each page as it first writes to it. A trace done now, while nobody waits for it,
            # does most of that: measured, the one that follows takes half the time.
            warm_up_first_pass()
            write_all(pipes.reports, encode({"type": "ready"}))
            request = _await_request(pipes.jobs)
            speak_before_dying(pipes.stack, request["limits"]["seconds"])
            faulthandler.register(STACK_SIGNAL, file=pipes.stack, all_threads=False)
            refuse_side_effects(scratch)
            message = carry_out(request, second, lambda data: write_all(pipes.reports, data))
        write_all(pipes.reports, encode({**message, "id": request["id"]}))
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        # A fault of ours: its traceback goes to the log by way of standard error.
        traceback.print_exc()
        sys.stderr.flush()
        exit_really(FAULT)
    exit_really(0)


def _second(pipes: Pipes, scratch: str) -> Partner:
    """The process for the second pass.

    It is forked before either gets ready: after a fork both would copy their pages once more.
    """

    def work(requests: int) -> Message:
        for descriptor in (pipes.jobs, pipes.reports):
            os.close(descriptor)
        warm_up_second_pass()
        request = _await_request(requests)
        refuse_side_effects(scratch)
        return job_of(request, say_nothing).second_pass()

    return Partner(work)


def _await_request(pipe: int) -> Message:
    """The request, with the texts it needs; exits when the pipe is closed without one."""
    decoder = Decoder()
    while data := os.read(pipe, 2**20):
        for message in decoder.feed(data):
            os.close(pipe)
            return message
    os._exit(0)


def _redirect(output_pipe: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output_pipe, 1)
    os.dup2(output_pipe, 2)
    for descriptor in (null, output_pipe):
        if descriptor > 2:
            os.close(descriptor)
