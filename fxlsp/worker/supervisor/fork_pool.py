"""Children that are forked from this process, which has torch imported and runs nothing of the workspace."""

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

from ...wire.messages import Hello, TraceRequest
from ..processes.lifetime import adopt_orphans, kill_group, kill_orphans
from .checkpoints import Holders
from .forked_worker import Forked, fork_here
from .pool import Nursery
from .preloads import preload
from .torch_preparation import prepare_torch
from .worker_handle import Offspring

_PROBE_SECONDS = 30.0
"""What the first child has to do a small trace: it takes a tenth of a second, unless forking is broken here."""


class NoForkError(Exception):
    """A forked process cannot trace here; the message says how that showed."""


class Forks(Nursery):
    """Keeps one child ready beside those that trace."""

    def __init__(self, hello: Hello, folder: str) -> None:
        self._hello = hello
        self._folder = folder
        self._children: set[Forked] = set()
        self._spare: Forked | None = None
        self._holders = Holders(folder)
        self._connection = -1

    def greeting(self, connection: socket.socket) -> Hello | None:
        """Raises NoForkError if a first child shows that they are of no use here."""
        self._connection = connection.fileno()
        prepare_torch()
        adopt_orphans()
        self.prepare()
        assert self._spare is not None
        return self._hello if self._gets_ready(self._spare, connection) else None

    def _gets_ready(self, child: Forked, connection: socket.socket) -> bool:
        """Whether it does before the server goes."""
        deadline = time.monotonic() + _PROBE_SECONDS
        with selectors.DefaultSelector() as selector:
            for source in (connection, child.report_pipe):
                selector.register(source, selectors.EVENT_READ)
            while not child.is_ready:
                ready = [key.fileobj for key, _ in selector.select(max(0.0, deadline - time.monotonic()))]
                if connection in ready:
                    return False
                if not ready or child.read(child.report_pipe) is None:
                    self._fail(child)
        return True

    def _fail(self, child: Forked) -> None:
        end = child.bury()
        self.forget(child)
        how = f"signal {end.signal}" if end.signal is not None else f"exit code {end.exit}"
        last = end.stderr_tail.strip().rpartition("\n")[2]
        raise NoForkError(f"a forked process cannot trace here ({how}{f': {last}' if last else ''})")

    def prepare(self) -> None:
        """Fork a child ahead of its request: it gets ready while nobody waits for it."""
        self._adopt()
        self._prepare_spare()
        self._holders.prepare()

    def _adopt(self) -> None:
        for child in self._children:
            self._holders.adopt(child)

    def _prepare_spare(self) -> None:
        if self._spare is None:
            theirs = [descriptor for child in self._children for descriptor in child.descriptors]
            fork = fork_here([self._connection, *theirs, *self._holders.descriptors])
            self._spare = Forked(self._folder, fork)
            self._children.add(self._spare)

    def take(self, request: TraceRequest) -> Offspring:
        self._adopt()
        held = self._holders.take(request)
        if held is not None:
            self._children.add(held)
            return held
        self._prepare_spare()
        child, self._spare = self._spare, None
        assert child is not None
        return child

    def take_back(self, child: Offspring) -> bool:
        return False

    def forget(self, child: Offspring) -> None:
        self._adopt()
        self._children = {other for other in self._children if other is not child}
        self._holders.forget(child)
        kill_orphans({*(other.pid for other in self._children), *self._holders.pids})

    def enforce_limits(self) -> None:
        self._holders.enforce_limits()

    def preload(self, names: Sequence[str]) -> str | None:
        """Import them here, if that leaves this process quiet."""
        # What they hold was measured without, and is theirs alone.
        self._holders.end_all()
        if not _stays_quiet(names):
            return f"{', '.join(names[:3])} start threads or CUDA: imported for each trace anew"
        preload(names)
        self._replace_spare()
        return None

    def _replace_spare(self) -> None:
        """The one that stands ready was forked before what has just been imported."""
        spare, self._spare = self._spare, None
        if spare is not None:
            spare.done = True
            spare.bury()
            self.forget(spare)
        self.prepare()

    def close(self) -> None:
        self._holders.end_all()
        for child in self._children:
            kill_group(child.pid)
        kill_orphans(set())


def _stays_quiet(names: Sequence[str]) -> bool:
    """Try the imports in a fork: forking is safe only from a process without other threads."""
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
