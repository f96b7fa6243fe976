"""Children that are started ahead of their requests, where processes cannot be forked.

This process imports no torch: it would be half a gigabyte that nobody uses.
"""

from __future__ import annotations

import selectors
import socket
import sys
from collections.abc import Sequence

from ...report.codes import NO_INTERPRETER
from ...wire.messages import Hello, Refused, TraceRequest
from .pool import Nursery
from .spawned_worker import Spawned
from .worker_handle import Offspring

_READY = 2
"""Children that wait for a request. A start takes seconds of a processor, so that one edit soon follows another before
the next child is ready; each takes some 400 MB."""


class Spares(Nursery):
    """Keeps children waiting, the oldest first in line, and replaces each that is taken."""

    def __init__(self, folder: str) -> None:
        self._folder = folder
        self._waiting: list[Spawned] = []
        self._taken: set[Spawned] = set()
        self._names: list[str] = []
        """Packages that every child imports."""

    def greeting(self, connection: socket.socket) -> Hello | Refused | None:
        """As the first child says it, once it is ready."""
        child = Spawned(self._folder, self._names)
        self._waiting.append(child)
        with selectors.DefaultSelector() as selector:
            for descriptor in (connection.fileno(), *child.pipes):
                selector.register(descriptor, selectors.EVENT_READ)
            while not child.is_ready:
                for key, _ in selector.select():
                    if key.fd == connection.fileno():
                        return None
                    if child.read(key.fd) is None:
                        return child.greeting or self._refusal(child)
        return child.greeting

    def _refusal(self, child: Spawned) -> Refused:
        """What to say where the first child ended before it could say anything."""
        self._waiting.remove(child)
        last = child.bury().stderr_tail.strip().rpartition("\n")[2]
        message = f"{sys.executable} cannot start a process that traces: {last or 'it ends at once'}"
        return Refused(NO_INTERPRETER, message)

    def prepare(self) -> None:
        while len(self._waiting) < _READY:
            self._waiting.append(Spawned(self._folder, self._names))

    def take(self, request: TraceRequest) -> Offspring:
        for child in [child for child in self._waiting if not child.is_alive]:
            self._waiting.remove(child)
            child.bury()
        child = self._waiting.pop(0) if self._waiting else Spawned(self._folder, self._names)
        self._taken.add(child)
        return child

    def enforce_limits(self) -> None:
        """There is nothing else here."""

    def take_back(self, child: Offspring) -> bool:
        if isinstance(child, Spawned) and child.withdraw():
            self._taken.discard(child)
            self._waiting.insert(0, child)
            return True
        return False

    def forget(self, child: Offspring) -> None:
        self._taken = {other for other in self._taken if other is not child}

    def preload(self, names: Sequence[str]) -> str | None:
        self._names += names
        for child in self._waiting:
            child.preload(names)
        return None

    def close(self) -> None:
        for child in (*self._taken, *self._waiting):
            child.done = True
            child.bury()
