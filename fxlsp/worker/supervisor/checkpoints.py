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
from ..processes.fds import WorkerPipes
from ..processes.lifetime import kill_group
from ..processes.system import resident_megabytes
from .checkpoint import ASKED
from .forked_worker import Forked
from .worker_handle import Offspring

_MOST = 2
"""Files that are held at once, the last used: people go back and forth between a model's file and one other."""
_IDLE_SECONDS = 600.0
"""After so long without a trace of its file a holder is ended. Where nothing is traced at all, the template leaves."""
_FORK_SECONDS = 1.0
"""What a holder has to fork a child. It takes a hundredth of that; the template waits for it."""


class _GoneError(Exception):
    """A holder does not do as it is asked."""


class _Holder:
    """One holder, and the child that stands ready in it."""

    def __init__(self, file: str, megabytes: float, pid: int, connection: socket.socket, folder: str) -> None:
        self.file = file
        self.pid = pid
        self.used = time.monotonic()
        self.megabytes = megabytes
        """What the last request for its file allows."""
        self.connection = connection
        self.ready: Forked | None = None
        self.taken: set[Forked] = set()
        self._folder = folder
        connection.settimeout(_FORK_SECONDS)

    def prepare(self) -> None:
        """Have a child forked ahead of its request.

        Raises:
            _GoneError: the holder does not fork any.
        """
        if self.ready is None:
            self.ready = Forked(self._folder, self._fork)

    def _fork(self, child: Forked, pipes: WorkerPipes, scratch: str) -> int:
        try:
            socket.send_fds(self.connection, [os.fsencode(scratch)], pipes)
            return int(self.connection.recv(ASKED))
        except (OSError, ValueError) as error:
            raise _GoneError from error

    def take(self) -> Forked:
        """A child for a request; raises as :meth:`prepare` does."""
        self.prepare()
        child, self.ready = self.ready, None
        assert child is not None
        self.taken.add(child)
        self.used = time.monotonic()
        return child

    def end(self) -> None:
        """End it, and the child that has no request. Those that have one go on."""
        self.connection.close()
        if self.ready is not None:
            self.ready.done = True
            self.ready.bury()
            self.ready = None
        # One that has died, and that the template has forgotten with other orphans, must not be ended by its number.
        with suppress(ChildProcessError):
            os.waitpid(self.pid, os.WNOHANG)
            kill_group(self.pid)


class Holders:
    """At most one for each file, and few in all."""

    def __init__(self, folder: str) -> None:
        """``folder`` holds the scratch folders of the template's children."""
        self._folder = folder
        self._all: list[_Holder] = []

    @property
    def pids(self) -> Iterator[int]:
        """Of them and of the children that stand ready in them."""
        for holder in self._all:
            yield holder.pid
            if holder.ready is not None:
                yield holder.ready.pid

    @property
    def descriptors(self) -> Iterator[int]:
        """Those of the template's that belong to them."""
        for holder in self._all:
            yield holder.connection.fileno()
            if holder.ready is not None:
                yield from holder.ready.descriptors

    def prepare(self) -> None:
        """Have each keep a child ready."""
        for holder in list(self._all):
            with suppress(_GoneError):
                holder.prepare()
                continue
            self._end(holder)

    def take(self, request: TraceRequest) -> Forked | None:
        """A child for a request, if its file is held. It may find out that it is of no use, and decline."""
        self._end_idle()
        holder = next((each for each in self._all if each.file == request.target.file), None)
        if holder is None:
            return None
        holder.megabytes = request.limits.megabytes
        try:
            return holder.take()
        except _GoneError:
            self._end(holder)
            return None

    def adopt(self, child: Forked) -> None:
        """Take over the holder that a child has forked, if it has."""
        taken = child.take_holder()
        if taken is not None and child.assignment is not None:
            file, limits = child.assignment.target.file, child.assignment.limits
            assert file is not None
            self._add(_Holder(file, limits.megabytes, *taken, self._folder))

    def forget(self, child: Offspring) -> None:
        """A child has been buried: if the holder that it came from proved to be of no use, end that."""
        for holder in list(self._all):
            if child in holder.taken:
                holder.taken = {other for other in holder.taken if other is not child}
                # What ended it before it began may be due to what is held.
                child.declined |= not child.has_begun
                if child.declined:
                    self._end(holder)

    def _add(self, holder: _Holder) -> None:
        for other in [other for other in self._all if other.file == holder.file]:
            self._end(other)
        self._all.append(holder)
        while len(self._all) > _MOST:
            self._end(min(self._all, key=lambda each: each.used))

    def enforce_limits(self) -> None:
        """End those that are over their memory."""
        for holder in list(self._all):
            if resident_megabytes(holder.pid) > holder.megabytes:
                self._end(holder)

    def _end_idle(self) -> None:
        for holder in list(self._all):
            if time.monotonic() - holder.used > _IDLE_SECONDS:
                self._end(holder)

    def end_all(self) -> None:
        """End them and the children that stand ready in them."""
        for holder in list(self._all):
            self._end(holder)

    def _end(self, holder: _Holder) -> None:
        self._all.remove(holder)
        holder.end()
