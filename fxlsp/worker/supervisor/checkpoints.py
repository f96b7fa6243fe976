"""The template's view of holders: processes with the imports of a model's file done, from which its traces are forked.

How one comes to be and what it compares is told in :mod:`.holding`.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from contextlib import suppress

from ...wire.messages import TraceRequest
from ..processes.fds import Pipes
from ..processes.lifetime import end_group
from ..processes.system import resident_megabytes
from .checkpoint import MAX_REQUEST_BYTES
from .forked_worker import ForkedWorker
from .worker_handle import WorkerHandle

_MAX_CHECKPOINTS = 2
"""Files that are held at once, the last used: people go back and forth between a model's file and one other."""
_IDLE_SECONDS = 600.0
"""After so long without a trace of its file a holder is ended. Where nothing is traced at all, the template leaves."""
_FORK_SECONDS = 1.0
"""What a holder has to fork a child. It takes a hundredth of that; the template waits for it."""


class _UnresponsiveError(Exception):
    """A holder does not do as it is asked."""


class _CheckpointHandle:
    """One holder, and the child that stands ready in it."""

    def __init__(self, file: str, megabytes: float, pid: int, connection: socket.socket, folder: str) -> None:
        self.file = file
        self.pid = pid
        self.used = time.monotonic()
        self.megabytes = megabytes
        """What the last request for its file allows."""
        self.connection = connection
        self.ready: ForkedWorker | None = None
        self.taken: set[ForkedWorker] = set()
        self._folder = folder
        connection.settimeout(_FORK_SECONDS)

    def prepare(self) -> None:
        """Have a child forked ahead of its request.

        Raises:
            _GoneError: the holder does not fork any.
        """
        if self.ready is None:
            self.ready = ForkedWorker(self._folder, self._fork)

    def _fork(self, worker: ForkedWorker, pipes: Pipes, scratch: str) -> int:
        try:
            socket.send_fds(self.connection, [os.fsencode(scratch)], pipes)
            return int(self.connection.recv(MAX_REQUEST_BYTES))
        except (OSError, ValueError) as error:
            raise _UnresponsiveError from error

    def take(self) -> ForkedWorker:
        """A child for a request; raises as :meth:`prepare` does."""
        self.prepare()
        worker, self.ready = self.ready, None
        assert worker is not None
        self.taken.add(worker)
        self.used = time.monotonic()
        return worker

    def close(self) -> None:
        """End it, and the child that has no request. Those that have one go on."""
        self.connection.close()
        if self.ready is not None:
            self.ready.done = True
            self.ready.reap()
            self.ready = None
        # One that has died, and that the template has forgotten with other orphans, must not be ended by its number.
        with suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)
            end_group(self.pid)


class Checkpoints:
    """At most one for each file, and few in all."""

    def __init__(self, folder: str) -> None:
        """``folder`` holds the scratch folders of the template's children."""
        self._folder = folder
        self._all: list[_CheckpointHandle] = []

    @property
    def pids(self) -> Iterator[int]:
        """Of them and of the children that stand ready in them."""
        for checkpoint in self._all:
            yield checkpoint.pid
            if checkpoint.ready is not None:
                yield checkpoint.ready.pid

    @property
    def descriptors(self) -> Iterator[int]:
        """Those of the template's that belong to them."""
        for checkpoint in self._all:
            yield checkpoint.connection.fileno()
            if checkpoint.ready is not None:
                yield from checkpoint.ready.descriptors

    def prepare(self) -> None:
        """Have each keep a child ready."""
        for checkpoint in list(self._all):
            with suppress(_UnresponsiveError):
                checkpoint.prepare()
                continue
            self._close(checkpoint)

    def take(self, request: TraceRequest) -> ForkedWorker | None:
        """A child for a request, if its file is held. It may find out that it is of no use, and decline."""
        self._close_idle()
        checkpoint = next((each for each in self._all if each.file == request.target.file), None)
        if checkpoint is None:
            return None
        checkpoint.megabytes = request.limits.megabytes
        try:
            return checkpoint.take()
        except _UnresponsiveError:
            self._close(checkpoint)
            return None

    def adopt(self, worker: ForkedWorker) -> None:
        """Take over the holder that a child has forked, if it has."""
        taken = worker.take_checkpoint()
        if taken is not None and worker.assignment is not None:
            file, limits = worker.assignment.target.file, worker.assignment.limits
            assert file is not None
            self._add(_CheckpointHandle(file, limits.megabytes, *taken, self._folder))

    def discard(self, worker: WorkerHandle) -> None:
        """A child has been buried: if the holder that it came from proved to be of no use, end that."""
        for checkpoint in list(self._all):
            if worker in checkpoint.taken:
                checkpoint.taken = {other for other in checkpoint.taken if other is not worker}
                # What ended it before it began may be due to what is held.
                worker.declined |= not worker.has_started
                if worker.declined:
                    self._close(checkpoint)

    def _add(self, checkpoint: _CheckpointHandle) -> None:
        for other in [other for other in self._all if other.file == checkpoint.file]:
            self._close(other)
        self._all.append(checkpoint)
        while len(self._all) > _MAX_CHECKPOINTS:
            self._close(min(self._all, key=lambda each: each.used))

    def enforce_limits(self) -> None:
        """End those that are over their memory."""
        for checkpoint in list(self._all):
            if resident_megabytes(checkpoint.pid) > checkpoint.megabytes:
                self._close(checkpoint)

    def _close_idle(self) -> None:
        for checkpoint in list(self._all):
            if time.monotonic() - checkpoint.used > _IDLE_SECONDS:
                self._close(checkpoint)

    def close_all(self) -> None:
        """End them and the children that stand ready in them."""
        for checkpoint in list(self._all):
            self._close(checkpoint)

    def _close(self, checkpoint: _CheckpointHandle) -> None:
        self._all.remove(checkpoint)
        checkpoint.close()
