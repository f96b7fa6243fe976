"""Worker's side of a checkpoint: fork after the imports of a file, wait, resume.

Where the head of a model's file took long, the worker forks a checkpoint at that point, in the middle of loading the
file, and continues. The checkpoint waits. Workers forked from it later continue from the same point with another
request for the same file: the text below the head may differ. So no part of the model itself is ever in a checkpoint.
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

from ....wire.messages import CheckpointForked, Declined, Ready, TraceRequest
from ...isolation.child_processes.crash_dump import disable_crash_dump, set_time_limit, time_limit_suspended
from ...isolation.child_processes.fds import EXIT_INTERNAL_ERROR, WorkerPipes, await_request, write_all
from ...isolation.child_processes.lifetime import daemon_fork
from ...isolation.sandbox.audit import own_processes_allowed, set_scratch_folder
from ...job.load import RequestLoad, StageCallback
from ...model.loading.lazy_module import Execution
from .checkpoint_inputs import CheckpointInputs
from .import_preview import ImportPreview

MIN_HEAD_SECONDS = 0.04
"""Minimal processor time of the head: a fork of a checkpoint takes about as long."""
MAX_REQUEST_BYTES = 4096
"""Size limit of a message that asks a checkpoint for a fork: the path of the worker's scratch folder."""

_exit = os._exit


class ForkingLoad:
    """Load that forks a checkpoint after the head of a file, if worthwhile and safe.

    :meth:`run` returns in this process, and in each worker forked from the checkpoint that received a request.
    """

    def __init__(
        self,
        load: RequestLoad,
        pipes: WorkerPipes,
        scratch: str,
        close_others: Callable[[], None],
        stage_reporter_of: Callable[[TraceRequest], StageCallback],
    ) -> None:
        """Prepare the load of one request.

        Args:
            load: The load, which has not run yet.
            pipes: The pipes of this process.
            scratch: The folder that this process may write to.
            close_others: Closes all other connections of this process to others, in the checkpoint.
            stage_reporter_of: Returns the function that reports the stages of a request.
        """
        self.is_resumed = False
        """Whether this process was forked from the checkpoint."""
        self._load = load
        self._pipes = pipes
        self._scratch = scratch
        self._close_others = close_others
        self._stage_reporter_of = stage_reporter_of
        self._supervisor = os.getppid()
        self._inputs = CheckpointInputs(load.loader)
        self._preview = ImportPreview(load, pipes.reports)

    def run(self) -> None:
        """Run the load, and fork a checkpoint after the head of the file."""
        if not os.path.isdir("/proc/self/task"):
            # Only Linux lets the supervisor inherit processes that a worker has forked.
            self._load.run()
            return
        before = ForkHazards.now()
        with self._inputs.watching() as stop:

            def after_head(execution: Execution) -> None:
                stop()
                if time.process_time() - began >= MIN_HEAD_SECONDS and self._may_fork(execution, before):
                    self._fork_checkpoint(execution, before.priority)

            self._load.pause_after_head(after_head)
            self._load.call_after_file(lambda module: self._preview.file_ran(module, self.is_resumed))
            began = time.process_time()
            self._load.run()
            self._preview.load_ended()

    def _may_fork(self, execution: Execution, before: ForkHazards) -> bool:
        if execution.is_past_head or os.listdir(self._scratch):
            return False
        # A statement that failed for any other reason may succeed the next time.
        if not all(isinstance(failure, ModuleNotFoundError) for failure in self._load.loader.failures):
            return False
        return ForkHazards.now() == before and self._inputs.finish()

    def _fork_checkpoint(self, execution: Execution, priority: int) -> None:
        # Buffered output would be printed by each forked process. The streams may be objects of the user's code.
        with suppress(Exception):
            sys.stdout.flush()
            sys.stderr.flush()
        # The standard library gives a forked process a random state of its own.
        state = random.getstate()
        with time_limit_suspended(), own_processes_allowed():
            try:
                pid = daemon_fork(self._supervisor)
            except OSError:
                return
            if pid == 0:
                self._wait(execution, priority)
                random.setstate(state)
        if not self.is_resumed:
            write_all(self._pipes.reports, CheckpointForked(pid).encoded())

    def _wait(self, execution: Execution, priority: int) -> None:
        """In the checkpoint, fork workers on request; return in a worker with a request."""
        try:
            if os.nice(0) != priority:
                # Another trace started at this moment: workers forked here would have the lowered priority for ever.
                _exit(0)
            fork_request = self._serve_forks()
            torch.set_num_threads(1)
            request = self._request_of(*fork_request)
            assert request.target.file is not None
            path = os.path.realpath(request.target.file)
            if not (
                self._inputs.are_unchanged(request.texts, except_file=path)
                and self._load.can_resume_with(request, execution)
            ):
                write_all(self._pipes.reports, Declined().encoded())
                _exit(0)
            self._load.resume_with(request, execution, self._stage_reporter_of(request))
            self.is_resumed = True
        except BaseException:
            # An internal error: the code below on the stack is the user's, and must not catch it.
            traceback.print_exc()
            sys.stderr.flush()
            _exit(EXIT_INTERNAL_ERROR)

    def _serve_forks(self) -> tuple[str, WorkerPipes]:
        """Fork a worker for each message; return the worker's folder and pipes in it."""
        self._close_others()
        self._pipes.silence()
        disable_crash_dump()
        with socket.socket(fileno=self._pipes.checkpoints) as connection:
            while True:
                scratch, descriptors, _, _ = socket.recv_fds(connection, MAX_REQUEST_BYTES, len(WorkerPipes._fields))
                if not scratch:
                    _exit(0)
                pid = daemon_fork(self._supervisor)
                if pid == 0:
                    return os.fsdecode(scratch), WorkerPipes(*descriptors)
                for descriptor in descriptors:
                    os.close(descriptor)
                connection.sendall(str(pid).encode())

    def _request_of(self, scratch: str, pipes: WorkerPipes) -> TraceRequest:
        """Wait for the request on ``pipes``, which replace this process's own."""
        self._pipes.replace_with(pipes)
        set_scratch_folder(scratch)
        self._scratch = scratch
        write_all(self._pipes.reports, Ready().encoded())
        request = await_request(pipes.jobs)
        set_time_limit(request.limits.seconds)
        return request


class ForkHazards(NamedTuple):
    """State of this process that forbids a fork if it changed while the head ran.

    A forked process would share these resources, or lack them. If two states are equal, nothing was added in between.
    """

    threads: int
    """Number of threads. They do not exist in a forked process, but their locks stay locked."""
    descriptors: frozenset[str]
    """Open file descriptors. Both processes would read on from the same position."""
    shared_memory: int
    """Number of writable shared memory mappings, which both processes would write to."""
    accelerator: bool
    priority: int
    """A forked process inherits it and cannot raise it again."""

    @classmethod
    def now(cls) -> ForkHazards:
        """Return the current state.

        Raises:
            OSError: The system does not report it.
        """
        with open("/proc/self/maps", encoding="utf-8", errors="replace") as maps:
            shared = sum(line.split(" ", 2)[1] == "rw-s" for line in maps)
        return cls(
            len(os.listdir("/proc/self/task")),
            frozenset(os.listdir("/proc/self/fd")),
            shared,
            torch.cuda.is_initialized(),  # type: ignore[no-untyped-call]
            os.nice(0),
        )
