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
from typing import NamedTuple

import torch

from ...wire.messages import CheckpointForked, Declined, Ready, TraceRequest
from ..loading.lazy_module import Execution
from ..processes.crash_dump import die_silently, end_in, time_limit_off
from ..processes.fds import FAULT, Pipes, await_request, write_all
from ..processes.lifetime import fork_for
from ..sandbox.audit import move_scratch, own_action
from ..trace.load import RequestLoad, SayStage
from .checkpoint_inputs import CheckpointInputs

MIN_HEAD_SECONDS = 0.15
"""Of processor time that the head took: with less, forking from a holder saves nothing that a person would notice."""
MAX_REQUEST_BYTES = 4096
"""Bytes in which a holder is asked for a child: the child's scratch folder."""

_exit = os._exit


class Checkpoint:
    """Forks a holder after the head of a file, if that is worth it and nothing stands against it.

    :meth:`run` returns in this process, and in every child of the holder that was handed a request.
    """

    def __init__(
        self,
        load: RequestLoad,
        pipes: Pipes,
        scratch: str,
        close_others: Callable[[], None],
        stage_reporter_of: Callable[[TraceRequest], SayStage],
    ) -> None:
        """
        Args:
            load: has not run yet.
            pipes: this process's.
            scratch: the folder that it may write to.
            let_go: closes whatever else this process has to do with others, in a holder.
            say_stage_of: what tells the stages of a request.
        """
        self.is_resumed = False
        """Whether this process was forked from a holder."""
        self._load = load
        self._pipes = pipes
        self._scratch = scratch
        self._close_others = close_others
        self._stage_reporter_of = stage_reporter_of
        self._supervisor = os.getppid()
        self._inputs = CheckpointInputs(load.loader)

    def run(self) -> None:
        """Carry out the load."""
        if not os.path.isdir("/proc/self/task"):
            # Only where there is one can the template adopt what another process has forked.
            self._load.run()
            return
        before = ForkHazards.now()
        with self._inputs.watching() as stop:

            def after_head(execution: Execution) -> None:
                stop()
                if time.process_time() - began >= MIN_HEAD_SECONDS and self._may_fork(execution, before):
                    self._fork_checkpoint(execution, before.priority)

            self._load.pause_after_head(after_head)
            began = time.process_time()
            self._load.run()

    def _may_fork(self, execution: Execution, before: ForkHazards) -> bool:
        if execution.is_past_head or os.listdir(self._scratch):
            return False
        # What failed for any other reason may go well the next time.
        if not all(isinstance(failure, ModuleNotFoundError) for failure in self._load.loader.failures):
            return False
        return ForkHazards.now() == before and self._inputs.finish()

    def _fork_checkpoint(self, execution: Execution, priority: int) -> None:
        # What is still to be printed would be printed by each of them. The streams may be the user's own.
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        # A forked process begins with a random state of its own, by the standard library's wish.
        state = random.getstate()
        with time_limit_off(), own_action():
            try:
                pid = fork_for(self._supervisor)
            except OSError:
                return
            if pid == 0:
                self._wait(execution, priority)
                random.setstate(state)
        if not self.is_resumed:
            write_all(self._pipes.reports, CheckpointForked(pid).encoded())

    def _wait(self, execution: Execution, priority: int) -> None:
        """As the holder: fork a child whenever one is asked for. Returns in a child that has a request to carry out."""
        try:
            if os.nice(0) != priority:
                # Another trace began in this moment: what is forked here would yield to others for ever.
                _exit(0)
            fork_request = self._serve_forks()
            torch.set_num_threads(1)
            request = self._request_of(*fork_request)
            assert request.target.file is not None
            path = os.path.realpath(request.target.file)
            if not (
                self._inputs.are_unchanged(request.texts, except_file=path)
                and self._load.may_become(request, execution)
            ):
                write_all(self._pipes.reports, Declined().encoded())
                _exit(0)
            self._load.become(request, execution, self._stage_reporter_of(request))
            self.is_resumed = True
        except BaseException:
            # A fault of ours: what is on the stack below is the user's, and not to see it.
            traceback.print_exc()
            sys.stderr.flush()
            _exit(FAULT)

    def _serve_forks(self) -> tuple[str, Pipes]:
        """In a child that was asked for: its scratch folder and its ends of the pipes."""
        self._close_others()
        self._pipes.silence()
        die_silently()
        with socket.socket(fileno=self._pipes.holders) as connection:
            while True:
                scratch, descriptors, _, _ = socket.recv_fds(connection, MAX_REQUEST_BYTES, len(Pipes._fields))
                if not scratch:
                    _exit(0)
                pid = fork_for(self._supervisor)
                if pid == 0:
                    return os.fsdecode(scratch), Pipes(*descriptors)
                for descriptor in descriptors:
                    os.close(descriptor)
                connection.sendall(str(pid).encode())

    def _request_of(self, scratch: str, pipes: Pipes) -> TraceRequest:
        """Wait for it on ``pipes``, which are this process's own from now on."""
        self._pipes.become(pipes)
        move_scratch(scratch)
        self._scratch = scratch
        write_all(self._pipes.reports, Ready().encoded())
        request = await_request(pipes.jobs)
        end_in(request.limits.seconds)
        return request


class ForkHazards(NamedTuple):
    """Of this process. Two that are equal mean that nothing came in between."""

    threads: int
    """They are not there in a forked process, but what they hold stays locked."""
    descriptors: frozenset[str]
    """Both would read on from the same place."""
    shared_memory: int
    """How many pieces can be written to, for both."""
    accelerator: bool
    priority: int
    """Forked processes inherit it, and cannot raise it again."""

    @classmethod
    def now(cls) -> ForkHazards:
        """Raises OSError where the system does not tell."""
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            shared = sum(line.split(" ", 2)[1] == "rw-s" for line in maps)
        return cls(
            len(os.listdir("/proc/self/task")),
            frozenset(os.listdir("/proc/self/fd")),
            shared,
            torch.cuda.is_initialized(),  # type: ignore[no-untyped-call]
            os.nice(0),
        )
