"""Supervisor's side of checkpoints: processes that have run a file's imports.

Later traces of that file are forked from them. How a checkpoint is forked and which inputs it compares is in
:mod:`..worker.forking_load` and :mod:`..worker.checkpoint_inputs`.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import suppress

from ....wire.messages import TraceRequest
from ...isolation.child_processes.fds import WorkerPipes
from ...isolation.child_processes.lifetime import is_own_child, kill_group
from ...isolation.child_processes.system import resident_megabytes
from ..worker.forking_load import MAX_REQUEST_BYTES
from .forked_worker import ForkedWorker, TakenCheckpoint
from .worker_handle import WorkerHandle

_MAX_CHECKPOINTS = 2
"""Number of files with a checkpoint, open ones first and then the last used ones: users alternate between a model's
file and one other."""
_IDLE_SECONDS = 600.0
"""Time without a trace of its file after which a checkpoint is closed. Without any trace the whole supervisor exits."""
_FORK_SECONDS = 1.0
"""Time limit for a fork by a checkpoint, for which the supervisor waits. A fork takes a hundredth of it."""


class _UnresponsiveError(Exception):
    """A checkpoint does not fork when asked to."""


class Checkpoint:
    """Process that has run the imports of a file, and the worker that was forked from it ahead."""

    def __init__(self, file: str, megabytes: float, taken: TakenCheckpoint, is_open: bool) -> None:
        self.file = file
        self.is_open = is_open
        """Whether the file is open in the editor: the user edits it, or looks at it."""
        self.pid = taken.pid
        self.used = time.monotonic()
        self.megabytes = megabytes
        """Memory limit of the last request for its file."""
        self.connection = taken.connection
        self.ready: ForkedWorker | None = None
        self.taken: set[ForkedWorker] = set()
        self._scratch = taken.scratch
        self.connection.settimeout(_FORK_SECONDS)

    def prepare(self) -> None:
        """Have a worker forked ahead of its request.

        Raises:
            _UnresponsiveError: the checkpoint does not fork.
        """
        if self.ready is None:
            self.ready = ForkedWorker(self._scratch, self._fork)

    def _fork(self, worker: ForkedWorker, pipes: WorkerPipes, scratch: str) -> int:
        try:
            socket.send_fds(self.connection, [os.fsencode(scratch)], pipes)
            pid = int(self.connection.recv(MAX_REQUEST_BYTES))
        except (OSError, ValueError) as error:
            raise _UnresponsiveError from error
        if not is_own_child(pid):
            raise _UnresponsiveError
        return pid

    def take(self) -> ForkedWorker:
        """Return a worker for a request; raises as :meth:`prepare` does."""
        self.prepare()
        worker, self.ready = self.ready, None
        assert worker is not None
        self.taken.add(worker)
        self.used = time.monotonic()
        return worker

    def close(self) -> None:
        """Kill the checkpoint and its worker without a request; workers with one continue."""
        self.connection.close()
        if self.ready is not None:
            self.ready.done = True
            self.ready.reap()
            self.ready = None
        # A checkpoint that died may have been reaped with other orphans: its process id may belong to another process
        # by now.
        with suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)
            kill_group(self.pid)
        self._scratch.release()


class CheckpointPool:
    """The checkpoints of all files: at most one each, and few in total."""

    def __init__(self) -> None:
        self._all: list[Checkpoint] = []

    @property
    def pids(self) -> Iterator[int]:
        """Process ids of the checkpoints and of the workers forked ahead from them."""
        for checkpoint in self._all:
            yield checkpoint.pid
            if checkpoint.ready is not None:
                yield checkpoint.ready.pid

    @property
    def descriptors(self) -> Iterator[int]:
        """The supervisor's descriptors that belong to checkpoints."""
        for checkpoint in self._all:
            yield checkpoint.connection.fileno()
            if checkpoint.ready is not None:
                yield from checkpoint.ready.descriptors

    def prepare(self) -> None:
        """Have each checkpoint fork a worker ahead; close those that do not."""
        for checkpoint in list(self._all):
            with suppress(_UnresponsiveError):
                checkpoint.prepare()
                continue
            self._close(checkpoint)

    def take(self, request: TraceRequest) -> ForkedWorker | None:
        """Return a worker if the request's file has a checkpoint; it may still decline."""
        self._close_idle()
        checkpoint = next((each for each in self._all if each.file == request.target.file), None)
        if checkpoint is None:
            return None
        checkpoint.megabytes = request.limits.megabytes
        checkpoint.is_open = _is_open(request)
        try:
            return checkpoint.take()
        except _UnresponsiveError:
            self._close(checkpoint)
            return None

    def adopt(self, worker: ForkedWorker) -> None:
        """Take over the checkpoint that a worker has forked, if any."""
        taken = worker.take_checkpoint()
        if taken is not None and worker.assignment is not None:
            file, limits = worker.assignment.target.file, worker.assignment.limits
            assert file is not None
            self._add(Checkpoint(file, limits.megabytes, taken, _is_open(worker.assignment)))

    def discard(self, worker: WorkerHandle) -> None:
        """Forget a reaped worker, and close its checkpoint if that proved unusable."""
        for checkpoint in list(self._all):
            if worker in checkpoint.taken:
                checkpoint.taken = {other for other in checkpoint.taken if other is not worker}
                # If it ended by itself before its request started, the cause may be in the checkpoint.
                worker.declined |= not worker.has_started and not worker.is_cancelled
                if worker.declined:
                    self._close(checkpoint)

    def _add(self, checkpoint: Checkpoint) -> None:
        for other in [other for other in self._all if other.file == checkpoint.file]:
            self._close(other)
        self._all.append(checkpoint)
        while len(self._all) > _MAX_CHECKPOINTS:
            # Models of other files that use the edited one are traced between its edits.
            self._close(min(self._all, key=lambda each: (each.is_open, each.used)))

    def enforce_limits(self) -> None:
        """Close checkpoints that exceed their memory limit."""
        for checkpoint in list(self._all):
            if resident_megabytes(checkpoint.pid) > checkpoint.megabytes:
                self._close(checkpoint)

    def _close_idle(self) -> None:
        for checkpoint in list(self._all):
            if time.monotonic() - checkpoint.used > _IDLE_SECONDS:
                self._close(checkpoint)

    def close_all(self) -> None:
        """Close all checkpoints, with the workers forked ahead from them."""
        for checkpoint in list(self._all):
            self._close(checkpoint)

    def _close(self, checkpoint: Checkpoint) -> None:
        self._all.remove(checkpoint)
        checkpoint.close()


def _is_open(request: TraceRequest) -> bool:
    """Return whether the model's file is open in the editor."""
    return request.target.file is not None and os.path.realpath(request.target.file) in request.texts
