"""Pool of workers that are spawned ahead of their requests, without ``fork``.

The supervisor then imports no torch: it would take half a gigabyte of memory for nothing.
"""

from __future__ import annotations

import selectors
import socket
import sys
from collections.abc import Sequence

from ....report.codes import NO_INTERPRETER
from ....wire.messages import Hello, Refused, TraceRequest
from .pool import WorkerPool
from .spawned_worker import SpawnedWorker
from .worker_handle import WorkerHandle

_READY_WORKERS = 2
"""Workers that wait for a request. A start takes seconds of processor time, so a second edit often comes before the
next worker is ready; each worker takes some 400 MB."""


class SpawnPool(WorkerPool):
    """Pool that replaces each worker taken from it, and hands out the oldest first."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._waiting: list[SpawnedWorker] = []
        self._taken: set[SpawnedWorker] = set()
        self._names: list[str] = []
        """Packages that each worker imports."""

    def handshake(self, connection: socket.socket) -> Hello | Refused | None:
        """Return the first worker's ``hello`` or ``refused``, once it is ready."""
        worker = SpawnedWorker(self._folder, self._names)
        self._waiting.append(worker)
        with selectors.DefaultSelector() as selector:
            for descriptor in (connection.fileno(), *worker.pipes):
                selector.register(descriptor, selectors.EVENT_READ)
            while not worker.is_ready:
                for key, _ in selector.select():
                    if key.fd == connection.fileno():
                        return None
                    if worker.read(key.fd) is None:
                        if key.fd == worker.report_pipe:
                            return worker.hello or self._refusal(worker)
                        selector.unregister(key.fd)
        return worker.hello

    def _refusal(self, worker: SpawnedWorker) -> Refused:
        """Return the refusal for a first worker that died before it sent anything."""
        self._waiting.remove(worker)
        last = worker.reap().stderr_tail.strip().rpartition("\n")[2]
        message = f"{sys.executable} cannot start a process that traces: {last or 'it ends at once'}"
        return Refused(NO_INTERPRETER, message)

    def prepare(self) -> None:
        while len(self._waiting) < _READY_WORKERS:
            self._waiting.append(SpawnedWorker(self._folder, self._names))

    def take(self, request: TraceRequest) -> WorkerHandle:
        for worker in [worker for worker in self._waiting if not worker.is_alive]:
            self._waiting.remove(worker)
            worker.reap()
        worker = self._waiting.pop(0) if self._waiting else SpawnedWorker(self._folder, self._names)
        self._taken.add(worker)
        return worker

    def enforce_limits(self) -> None:
        """Do nothing: all processes of this pool are workers."""

    def put_back(self, worker: WorkerHandle) -> bool:
        if isinstance(worker, SpawnedWorker) and worker.withdraw_request():
            self._taken.discard(worker)
            self._waiting.insert(0, worker)
            return True
        return False

    def discard(self, worker: WorkerHandle) -> None:
        self._taken = {other for other in self._taken if other is not worker}

    def preload(self, names: Sequence[str]) -> str | None:
        self._names += names
        for worker in self._waiting:
            worker.preload(names)
        return None

    def close(self) -> None:
        for worker in (*self._taken, *self._waiting):
            worker.done = True
            worker.reap()
