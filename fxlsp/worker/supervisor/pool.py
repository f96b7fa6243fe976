"""Where the template's children come from: the one thing that differs between systems with and without fork."""

from __future__ import annotations

import socket
from abc import ABC, abstractmethod
from collections.abc import Sequence

from ...wire.messages import Hello, Refused, TraceRequest
from .worker_handle import WorkerHandle


class WorkerPool(ABC):
    """Keeps children ready and hands them out, each for one request."""

    @abstractmethod
    def handshake(self, connection: socket.socket) -> Hello | Refused | None:
        """Return ``hello`` once workers can be made, ``refused`` if they cannot be; None if the server went."""

    @abstractmethod
    def prepare(self) -> None:
        """Make ready what may soon be asked for: nobody waits now."""

    @abstractmethod
    def take(self, request: TraceRequest) -> WorkerHandle:
        """A child for a request, which is still to be assigned."""

    @abstractmethod
    def enforce_limits(self) -> None:
        """End what is no child that traces and is over its limits."""

    @abstractmethod
    def put_back(self, worker: WorkerHandle) -> bool:
        """Keep a child whose request was cancelled, if it has not seen it yet."""

    @abstractmethod
    def discard(self, worker: WorkerHandle) -> None:
        """A child has been buried: end what it left behind."""

    @abstractmethod
    def preload(self, names: Sequence[str]) -> str | None:
        """Import installed packages, so that later children find them loaded; why not, if there is a reason."""

    @abstractmethod
    def close(self) -> None:
        """End every child, taken or not."""
