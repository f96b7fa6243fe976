"""Pool of workers that are forked from the supervisor, which has torch imported.

It runs no workspace code, so that a fork starts from a known state.
"""

from __future__ import annotations

import os
import selectors
import signal
import socket
import threading
import time
from collections.abc import Sequence
from contextlib import suppress

import torch

from ....wire.messages import Hello, TraceRequest
from ...isolation.child_processes.lifetime import adopt_orphans, kill_group, kill_orphans, orphans_beside
from ...isolation.sandbox.containment import Containment
from ..worker.warmup import preload, prepare_torch
from .checkpoint_pool import CheckpointPool
from .forked_worker import ForkedWorker, fork_from_supervisor
from .pool import WorkerPool
from .worker_handle import WorkerHandle

_PROBE_SECONDS = 30.0
"""Time limit of the first worker for a small trace, which takes 0.1 s unless forking does not work on this system."""
_MOST_ORPHANS = 32
"""Processes without a parent that running traces may leave until they end."""


class NoForkError(Exception):
    """A forked process cannot trace on this system; the message says how that showed."""


class ForkPool(WorkerPool):
    """Pool that has one worker forked ahead, beside those that trace."""

    def __init__(self, hello: Hello, folder: str, containment: Containment) -> None:
        self._hello = hello
        self._folder = folder
        self._workers: set[ForkedWorker] = set()
        self._next: ForkedWorker | None = None
        self._checkpoints = CheckpointPool()
        self._connection = -1
        self._containment = containment

    def handshake(self, connection: socket.socket) -> Hello | None:
        """Prepare torch, fork a first worker, and return ``hello`` once that is ready.

        Returns None if the server disconnects before.

        Raises:
            NoForkError: the first worker died or does not become ready.
        """
        self._connection = connection.fileno()
        prepare_torch()
        adopt_orphans()
        self.prepare()
        assert self._next is not None
        return self._hello if self._becomes_ready(self._next, connection) else None

    def _becomes_ready(self, worker: ForkedWorker, connection: socket.socket) -> bool:
        """Return whether the worker becomes ready before the server disconnects."""
        deadline = time.monotonic() + _PROBE_SECONDS
        with selectors.DefaultSelector() as selector:
            for source in (connection, worker.report_pipe):
                selector.register(source, selectors.EVENT_READ)
            while not worker.is_ready:
                ready = [key.fileobj for key, _ in selector.select(max(0.0, deadline - time.monotonic()))]
                if connection in ready:
                    return False
                if not ready or worker.read(worker.report_pipe) is None:
                    self._fail(worker)
        return True

    def _fail(self, worker: ForkedWorker) -> None:
        end = worker.reap()
        self.discard(worker)
        how = f"signal {end.signal}" if end.signal is not None else f"exit code {end.exit}"
        last = end.stderr_tail.strip().rpartition("\n")[2]
        raise NoForkError(f"a forked process cannot trace here ({how}{f': {last}' if last else ''})")

    def prepare(self) -> None:
        """Fork a worker ahead of its request, so that it prepares itself before one waits."""
        self._adopt_checkpoints()
        self._prepare_next()
        self._checkpoints.prepare()

    def _adopt_checkpoints(self) -> None:
        for worker in self._workers:
            self._checkpoints.adopt(worker)

    def _prepare_next(self) -> None:
        if self._next is None:
            others = [descriptor for worker in self._workers for descriptor in worker.descriptors]
            own = [self._connection, *others, *self._checkpoints.descriptors]
            fork = fork_from_supervisor(own, self._containment)
            self._next = ForkedWorker(self._folder, fork)
            self._workers.add(self._next)

    def take(self, request: TraceRequest) -> WorkerHandle:
        self._adopt_checkpoints()
        resumed = self._checkpoints.take(request)
        if resumed is not None:
            self._workers.add(resumed)
            return resumed
        self._prepare_next()
        worker, self._next = self._next, None
        assert worker is not None
        return worker

    def put_back(self, worker: WorkerHandle) -> bool:
        return False

    def discard(self, worker: WorkerHandle) -> None:
        self._adopt_checkpoints()
        self._workers = {other for other in self._workers if other is not worker}
        self._checkpoints.discard(worker)
        kill_orphans(self._known())

    def enforce_limits(self) -> None:
        self._checkpoints.enforce_limits()
        # A few may be checkpoints that are not known yet. Whose the others are is not known: a trace goes on without.
        if len(orphans_beside(self._known())) > _MOST_ORPHANS:
            kill_orphans(self._known())

    def _known(self) -> set[int]:
        return {*(worker.pid for worker in self._workers), *self._checkpoints.pids}

    def preload(self, names: Sequence[str]) -> str | None:
        """Import packages in this process, if that starts no threads and no CUDA."""
        # Checkpoints were measured without these packages, and would not share them.
        self._checkpoints.close_all()
        if not _can_import_safely(names):
            return f"{', '.join(names[:3])} start threads or CUDA: imported for each trace anew"
        preload(names)
        self._replace_next()
        return None

    def _replace_next(self) -> None:
        """Reap the worker forked ahead, which lacks the packages, and fork another."""
        replaced, self._next = self._next, None
        if replaced is not None:
            replaced.done = True
            replaced.reap()
            self.discard(replaced)
        self.prepare()

    def close(self) -> None:
        self._checkpoints.close_all()
        for worker in self._workers:
            kill_group(worker.pid)
        kill_orphans(set())


def _can_import_safely(names: Sequence[str]) -> bool:
    """Return whether imports, tried in a fork, start neither threads nor CUDA.

    Forking is safe only from a process without other threads.
    """
    pid = os.fork()
    if pid == 0:
        signal.alarm(60)
        threads = _threads()
        preload(names)
        os._exit(0 if _threads() <= threads and not torch.cuda.is_initialized() else 1)  # type: ignore[no-untyped-call]
    _, status = os.waitpid(pid, 0)
    return os.WIFEXITED(status) and os.WEXITSTATUS(status) == 0


def _threads() -> int:
    with suppress(OSError):
        return len(os.listdir("/proc/self/task"))
    return threading.active_count()
