"""The process that does one job, writes one report and dies."""

from __future__ import annotations

import faulthandler
import gc
import os
import signal
import sys
from collections.abc import Callable, Mapping
from typing import NoReturn

import torch

from ..report.wire import Message, encode
from .death import die_with_parent
from .guard import refuse_side_effects
from .job import Job
from .last_words import speak_before_dying

STACK_SIGNAL = signal.SIGUSR1
"""Makes a child write its running stack to its pipe."""


def become_child(
    request: Message, texts: Mapping[str, str], report_pipe: int, stack_pipe: int, output_pipe: int, scratch: str
) -> NoReturn:
    """In a process just forked: carry out ``request``, write its messages to ``report_pipe`` and exit."""
    # First of all: after the parent used OpenMP, a child that computes would wait for threads that were not forked.
    torch.set_num_threads(1)
    os.setsid()
    die_with_parent(os.getppid())
    _redirect(output_pipe)
    speak_before_dying(stack_pipe, request["limits"]["seconds"])
    faulthandler.register(STACK_SIGNAL, file=stack_pipe, all_threads=False)
    # It lives for milliseconds: collecting costs more than what it would free.
    gc.disable()
    exit_really = os._exit
    try:
        message = _carry_out(request, texts, report_pipe, scratch)
        _write(report_pipe, encode({**message, "id": request["id"]}))
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        _report_own_crash()
    exit_really(0)


def _carry_out(request: Message, texts: Mapping[str, str], report_pipe: int, scratch: str) -> Message:
    def say_stage(name: str) -> None:
        _write(report_pipe, encode({"type": "stage", "id": request["id"], "name": name}))

    sys.argv = [request["target"].get("file") or request["target"].get("module") or ""]
    job = Job(request, texts, say_stage)
    refuse_side_effects(scratch)
    return job.run()


def _redirect(output_pipe: int) -> None:
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.dup2(output_pipe, 1)
    os.dup2(output_pipe, 2)
    for descriptor in (null, output_pipe):
        if descriptor > 2:
            os.close(descriptor)


def _write(descriptor: int, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


def _report_own_crash() -> None:
    """An exception that escaped is a fault of ours: its traceback goes to the log by way of standard error."""
    import traceback

    traceback.print_exc()
    sys.stderr.flush()
    _exit_with(70)


_exit_with: Callable[[int], NoReturn] = os._exit
