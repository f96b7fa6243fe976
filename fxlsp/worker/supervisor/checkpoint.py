"""Keeping what the head of a model's file has imported, in a process that later traces are forked from.

Where it took long, the child that traces forks such a holder at that point, in the middle of loading the file, and goes
on. The holder waits. What it forks later goes on from there as well, with another request for the same file: the text
below the head may be another one. So nothing of the model itself is ever in a holder.
"""

from __future__ import annotations

import os
import random
import socket
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress

import torch

from ...wire.messages import CheckpointForked, Declined, Ready, TraceRequest
from ..loading.lazy_module import Execution
from ..processes.crash_dump import disable_crash_dump, set_time_limit, time_limit_suspended
from ..processes.fds import EXIT_INTERNAL_ERROR, WorkerPipes, await_request, write_all
from ..processes.lifetime import daemon_fork
from ..sandbox.audit import own_processes_allowed, set_scratch_folder
from ..trace.load import RequestLoad, StageCallback
from .checkpoint_inputs import Premises
from .fork_safety import Surroundings

WORTH_SECONDS = 0.15
"""Of processor time that the head took: with less, forking from a holder saves nothing that a person would notice."""
ASKED = 4096
"""Bytes in which a holder is asked for a child: the child's scratch folder."""

_exit = os._exit


class Holding:
    """Forks a holder after the head of a file, if that is worth it and nothing stands against it.

    :meth:`run` returns in this process, and in every child of the holder that was handed a request.
    """

    def __init__(
        self,
        load: RequestLoad,
        pipes: WorkerPipes,
        scratch: str,
        abandon: Callable[[], None],
        say_stage_of: Callable[[TraceRequest], StageCallback],
    ) -> None:
        """
        Args:
            load: has not run yet.
            pipes: this process's.
            scratch: the folder that it may write to.
            let_go: closes whatever else this process has to do with others, in a holder.
            say_stage_of: what tells the stages of a request.
        """
        self.is_held = False
        """Whether this process was forked from a holder."""
        self._load = load
        self._pipes = pipes
        self._scratch = scratch
        self._let_go = abandon
        self._say_stage_of = say_stage_of
        self._template = os.getppid()
        self._premises = Premises(load.loader)

    def run(self) -> None:
        """Carry out the load."""
        if not os.path.isdir("/proc/self/task"):
            # Only where there is one can the template adopt what another process has forked.
            self._load.run()
            return
        before = Surroundings.now()
        with self._premises.watching() as stop:

            def after_head(execution: Execution) -> None:
                stop()
                if time.process_time() - began >= WORTH_SECONDS and self._may_hold(execution, before):
                    self._fork_holder(execution, before.priority)

            self._load.pause_after_head(after_head)
            began = time.process_time()
            self._load.run()

    def _may_hold(self, execution: Execution, before: Surroundings) -> bool:
        if execution.is_past_head or os.listdir(self._scratch):
            return False
        # What failed for any other reason may go well the next time.
        if not all(isinstance(failure, ModuleNotFoundError) for failure in self._load.loader.failures):
            return False
        return Surroundings.now() == before and self._premises.settle()

    def _fork_holder(self, execution: Execution, priority: int) -> None:
        # What is still to be printed would be printed by each of them. The streams may be the user's own.
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        # A forked process begins with a random state of its own, by the standard library's wish.
        state = random.getstate()
        with time_limit_suspended(), own_processes_allowed():
            try:
                pid = daemon_fork(self._template)
            except OSError:
                return
            if pid == 0:
                self._wait(execution, priority)
                random.setstate(state)
        if not self.is_held:
            write_all(self._pipes.reports, CheckpointForked(pid).encoded())

    def _wait(self, execution: Execution, priority: int) -> None:
        """As the holder: fork a child whenever one is asked for. Returns in a child that has a request to carry out."""
        try:
            if os.nice(0) != priority:
                # Another trace began in this moment: what is forked here would yield to others for ever.
                _exit(0)
            asked = self._forked()
            torch.set_num_threads(1)
            request = self._request_of(*asked)
            assert request.target.file is not None
            path = os.path.realpath(request.target.file)
            if not (
                self._premises.hold(request.texts, but_for=path) and self._load.can_resume_with(request, execution)
            ):
                write_all(self._pipes.reports, Declined().encoded())
                _exit(0)
            self._load.resume_with(request, execution, self._say_stage_of(request))
            self.is_held = True
        except BaseException:
            # A fault of ours: what is on the stack below is the user's, and not to see it.
            traceback.print_exc()
            sys.stderr.flush()
            _exit(EXIT_INTERNAL_ERROR)

    def _forked(self) -> tuple[str, WorkerPipes]:
        """In a child that was asked for: its scratch folder and its ends of the pipes."""
        self._let_go()
        self._pipes.silence()
        disable_crash_dump()
        with socket.socket(fileno=self._pipes.checkpoints) as connection:
            while True:
                scratch, descriptors, _, _ = socket.recv_fds(connection, ASKED, len(WorkerPipes._fields))
                if not scratch:
                    _exit(0)
                pid = daemon_fork(self._template)
                if pid == 0:
                    return os.fsdecode(scratch), WorkerPipes(*descriptors)
                for descriptor in descriptors:
                    os.close(descriptor)
                connection.sendall(str(pid).encode())

    def _request_of(self, scratch: str, pipes: WorkerPipes) -> TraceRequest:
        """Wait for it on ``pipes``, which are this process's own from now on."""
        self._pipes.replace_with(pipes)
        set_scratch_folder(scratch)
        self._scratch = scratch
        write_all(self._pipes.reports, Ready().encoded())
        request = await_request(pipes.jobs)
        set_time_limit(request.limits.seconds)
        return request
