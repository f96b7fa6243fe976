"""Interface of the pools that provide workers, with and without ``fork``."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Sequence

from ....wire.messages import Hello, Refused, TraceRequest
from .worker_handle import WorkerHandle


class WorkerPool(ABC):
    """Source of workers: prepares them ahead and hands each out for one request."""

    @abstractmethod
    def handshake(self, connection: socket.socket) -> Hello | Refused | None:
        """Return ``hello`` once workers can be made, else ``refused``.

        None if the server disconnected before.
        """

    @abstractmethod
    def prepare(self) -> None:
        """Prepare workers that may soon be needed; called while no request waits."""

    @abstractmethod
    def take(self, request: TraceRequest) -> WorkerHandle:
        """Return a worker for a request, which is still to be assigned to it."""

    @abstractmethod
    def enforce_limits(self) -> None:
        """Kill processes other than running workers that exceed their limits."""

    @abstractmethod
    def put_back(self, worker: WorkerHandle) -> bool:
        """Take back a worker whose request was cancelled before it was sent, if possible.

        Returns whether it was taken back; if not, the caller has to reap it.
        """

    @abstractmethod
    def discard(self, worker: WorkerHandle) -> None:
        """Forget a worker that was reaped, and kill processes that it left behind."""

    @abstractmethod
    def preload(self, names: Sequence[str]) -> str | None:
        """Import packages for later workers; return the reason if they cannot be."""

    @abstractmethod
    def close(self) -> None:
        """Kill all workers, whether handed out or not."""
