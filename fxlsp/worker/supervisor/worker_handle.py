"""What the template knows of one child that traces: its messages, its limits, how it ended."""

from __future__ import annotations

import math
import shutil
import tempfile
import time
from abc import ABC, abstractmethod
from typing import Literal, NamedTuple

from ...wire.frames import Splitter, framed
from ...wire.messages import WIRE, Declined, Limits, Ready, Stage, TraceRequest, WorkerDied
from ...wire.vocabulary import WireMessage
from ..processes.crash_dump import TIME_LIMIT_MARK, parse_stack
from ..processes.system import lower_priority, resident_megabytes

_TAIL_BYTES = 4096
"""Bytes kept of what a child prints."""
_GRACE_SECONDS = 1.0
"""A child's own watchdog ends it at its limit; after this much more the template does."""
_MAX_PARSED_BYTES = 4096
"""Bytes; longer frames are results and pass on unread."""
_START_STAGE = "start"
"""The stage of a child before it says any."""
REAP_SECONDS = 0.2
"""What a child that has said its last word has to end by itself."""
STACK_SECONDS = 0.3
"""What a child that is over its limit has to tell where it is."""


class ExitStatus(NamedTuple):
    """How a process ended; exactly one of these is known."""

    exit: int | None
    signal: int | None


class WorkerHandle(ABC):
    """A child from its making to its burial. It gets ready by itself, and carries out one request.

    How it is made, spoken to and ended is for subclasses to say: :mod:`.forked` and :mod:`.spawned`.
    """

    pid: int
    report_pipe: int
    """On which its messages arrive. Its end is the child's."""

    def __init__(self, folder: str) -> None:
        """``folder`` holds the scratch folders of the template's children."""
        self.id = -1
        """The request it carries out; -1 while it waits for one."""
        self.done = False
        """Whether its result has passed."""
        self.declined = False
        """Whether its request is for another child: this one knows something that is not so any more."""
        self.assignment: TraceRequest | None = None
        """Its request, with the unsaved texts that it names."""
        self._scratch = tempfile.mkdtemp(dir=folder)
        self._limits = Limits(math.inf, math.inf)
        self._started = time.monotonic()
        self._pending_ready = 1
        """How often it has yet to say that it is ready."""
        self._stage = _START_STAGE
        self._splitter = Splitter()
        self._output = b""
        self._stack = b""
        self._limit: Literal["time", "memory"] | None = None

    @property
    def is_ready(self) -> bool:
        """Whether it has said that a request would be carried out at once."""
        return self._pending_ready == 0

    @property
    def has_started(self) -> bool:
        """Whether it has said so of its request."""
        return self._stage != _START_STAGE

    @property
    @abstractmethod
    def pipes(self) -> tuple[int, ...]:
        """The descriptors on which something of it arrives."""

    @abstractmethod
    def read(self, pipe: int) -> list[bytes] | None:
        """Frames to pass on; None when the child has closed its report pipe, and so has ended."""

    @abstractmethod
    def _send(self, data: bytes) -> None:
        """Give the child what it is to read; one that has died is found dead when its report pipe is read."""

    @abstractmethod
    def _request_stack(self) -> None:
        """Let it tell where it is, if it can, in a moment."""

    @abstractmethod
    def _kill(self) -> None:
        """End it at once; its report pipe then closes."""

    @abstractmethod
    def _wait_for_exit(self) -> ExitStatus:
        """Wait for its end, or bring it about. Frees all that was held for it."""

    def assign(self, request: TraceRequest) -> None:
        """Give the child its request, which holds the unsaved texts that it names."""
        self.id = request.id
        self.assignment = request
        self._start(request)

    def _start(self, request: TraceRequest) -> None:
        self._limits = request.limits
        self._started = time.monotonic()
        self._send(request.encoded())

    def yield_to_others(self) -> None:
        """Leave the processors to whatever else wants them."""
        lower_priority(self.pid)

    def enforce_limits(self) -> None:
        """End the child if it is over its time or memory."""
        if time.monotonic() - self._started > self._limits.seconds + _GRACE_SECONDS:
            self._kill_at_limit("time")
        elif resident_megabytes(self.pid) > self._limits.megabytes:
            self._kill_at_limit("memory")

    def reap(self) -> WorkerDied:
        """Reap the child and everything it left, and return how it ended."""
        end = self._wait_for_exit()
        self._remove_scratch()
        return WorkerDied(
            id=self.id,
            stage=self._stage,
            exit=end.exit,
            signal=end.signal,
            limit=self._reached_limit(),
            stack=parse_stack(self._stack.decode("ascii", "replace")),
            stderr_tail=self._output.decode("utf-8", "replace"),
        )

    def final_message(self, death: WorkerDied) -> WireMessage:
        """Return what answers its request after it died: by rule that it died."""
        return death

    def _remove_scratch(self) -> None:
        shutil.rmtree(self._scratch, ignore_errors=True)

    def _kill_at_limit(self, limit: Literal["time", "memory"]) -> None:
        if self._limit is None:
            self._limit = limit
            self._request_stack()
            self._kill()

    def _reached_limit(self) -> Literal["time", "memory"] | None:
        return "time" if self._stack.startswith(TIME_LIMIT_MARK.encode()) else self._limit

    def _append_output(self, data: bytes) -> None:
        self._output = (self._output + data)[-_TAIL_BYTES:]

    def _forwarded_frames(self, data: bytes) -> list[bytes]:
        return [framed(payload) for payload in self._splitter.feed(data) if self._is_forwarded(payload)]

    def _is_forwarded(self, payload: bytes) -> bool:
        return self._handle(WIRE.decode(payload) if len(payload) <= _MAX_PARSED_BYTES else None, payload)

    def _handle(self, message: WireMessage | None, payload: bytes) -> bool:
        """Return whether the server gets a message too. None is a long one, by rule a result, which is not read."""
        if isinstance(message, Ready):
            self._pending_ready -= 1
            return False
        if isinstance(message, Declined):
            self.declined = True
            return False
        if isinstance(message, Stage):
            self._stage = message.name
        else:
            self.done = True
        return True
