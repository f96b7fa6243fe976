"""Supervisor's side of one worker: its messages, its limits, how it ended."""

from __future__ import annotations

import math
import time
from abc import ABC, abstractmethod
from typing import NamedTuple

from ....wire.frames import Splitter, WireError, framed
from ....wire.messages import (
    WIRE,
    Declined,
    EarlyReport,
    FailureMessage,
    FrontendMessage,
    LimitKind,
    Limits,
    Ready,
    ReportMessage,
    Stage,
    TraceRequest,
    WorkerDied,
)
from ....wire.vocabulary import WireMessage
from ...isolation.child_processes.crash_dump import TIME_LIMIT_MARK, parse_stack
from ...isolation.child_processes.system import lower_priority
from .resource_use import descendants, exceeds_megabytes, written_megabytes
from .scratch_folder import ScratchFolder

_TAIL_BYTES = 4096
"""The last bytes of a worker's output that are stored."""
_GRACE_SECONDS = 1.0
"""Seconds beyond its time limit after which the supervisor kills a worker; its own watchdog ends it at the limit."""
_MAX_PARSED_BYTES = 4096
"""Longer frames are reports and are forwarded without being parsed."""
_ANSWERS = (ReportMessage, FrontendMessage, FailureMessage)
"""The last messages of a worker."""
_START_STAGE = "start"
"""The stage of a worker before it reports any."""
REAP_SECONDS = 0.2
"""Time within which a worker that has sent its last message has to exit by itself."""
STACK_SECONDS = 1.0
"""Time within which a worker that exceeds a limit has to write its stack."""


class ExitStatus(NamedTuple):
    """How a process ended; exactly one of the fields is set."""

    exit: int | None
    signal: int | None


class WorkerHandle(ABC):
    """Worker from its creation until it is reaped; it executes one request.

    It prepares itself without a request. How it is created, written to and killed is defined by :mod:`.forked_worker`
    and :mod:`.spawned_worker`.
    """

    pid: int
    report_pipe: int
    """Descriptor on which the worker's messages arrive. It reaches its end when the worker exits."""

    def __init__(self, folder: str | ScratchFolder) -> None:
        """``folder`` is where its scratch folder is created."""
        self.id = -1
        """Id of the request that it executes; -1 while it waits for one."""
        self.done = False
        """Whether its result was forwarded, or is no longer wanted."""
        self.declined = False
        """Whether another worker has to execute its request: what this one was forked with is out of date."""
        self.has_yielded = False
        """Whether its priority was lowered: it has to execute no other request."""
        self.assignment: TraceRequest | None = None
        """Its request, with the unsaved texts that it names."""
        self._scratch = ScratchFolder(folder)
        self._limits = Limits(math.inf, math.inf)
        self._started = time.monotonic()
        self._pending_ready = 1
        """Number of ``ready`` messages that are still to come."""
        self._stage = _START_STAGE
        self._splitter = Splitter()
        self._output = b""
        self._stack = b""
        self._limit: LimitKind | None = None
        self.is_cancelled = False
        """Whether it was killed since its result is no longer wanted."""

    @property
    def is_ready(self) -> bool:
        """Whether it has reported that it would start a request at once."""
        return self._pending_ready == 0

    @property
    def has_started(self) -> bool:
        """Whether it has reported a stage of its request."""
        return self._stage != _START_STAGE

    @property
    @abstractmethod
    def pipes(self) -> tuple[int, ...]:
        """Descriptors on which its messages and output arrive."""

    @abstractmethod
    def read(self, pipe: int) -> list[bytes] | None:
        """Read from a pipe; return the frames to forward, None at its end."""

    @abstractmethod
    def has_exited(self) -> bool:
        """Return whether the worker has exited and all that it has written can be read."""

    @abstractmethod
    def _send(self, data: bytes) -> None:
        """Send bytes to the worker; its death shows when its report pipe is read."""

    @abstractmethod
    def _request_stack(self) -> None:
        """Make the worker write its stack, and wait for that a moment."""

    @abstractmethod
    def _kill(self) -> None:
        """Kill the worker at once; its report pipe then closes."""

    @abstractmethod
    def _wait_for_exit(self) -> ExitStatus:
        """Wait until the worker has exited, or kill it, and free its resources."""

    def assign(self, request: TraceRequest) -> None:
        """Give the worker its request, which contains the unsaved texts that it names."""
        self.id = request.id
        self.assignment = request
        self._start(request)

    def _start(self, request: TraceRequest) -> None:
        self._limits = request.limits
        self._started = time.monotonic()
        self._send(request.encoded())

    def yield_to_others(self) -> None:
        """Lower the worker's priority."""
        self.has_yielded = True
        lower_priority(self.pid)

    def cancel(self) -> None:
        """Kill the worker, whose result is no longer wanted."""
        self.done = self.is_cancelled = True
        self._kill()

    def enforce_limits(self) -> None:
        """Kill the worker if it exceeds a limit."""
        exceeded = None if self.is_cancelled else self._exceeded_limit()
        if exceeded is not None:
            self._kill_at_limit(exceeded)

    def _exceeded_limit(self) -> LimitKind | None:
        limits = self._limits
        if time.monotonic() - self._started > limits.seconds + _GRACE_SECONDS:
            return "time"
        others = descendants(self.pid)
        if len(others) >= limits.processes:
            return "processes"
        if exceeds_megabytes([self.pid, *others], limits.megabytes):
            return "memory"
        return "written" if written_megabytes(self._scratch.path) > limits.written_megabytes else None

    def reap(self) -> WorkerDied:
        """Wait for the worker's end, remove what it left, and return how it ended."""
        end = self._wait_for_exit()
        self._scratch.release()
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
        """Return the answer to a request whose worker died: the death, unless overridden."""
        return death

    def _kill_at_limit(self, limit: LimitKind) -> None:
        if self._limit is None:
            self._limit = limit
            if limit != "processes":
                # Processes that start others would go on while the stack is written.
                self._request_stack()
            self._kill()

    def _reached_limit(self) -> LimitKind | None:
        return "time" if self._stack.startswith(TIME_LIMIT_MARK.encode()) else self._limit

    def _append_output(self, data: bytes) -> None:
        self._output = (self._output + data)[-_TAIL_BYTES:]

    def _forwarded_frames(self, data: bytes) -> list[bytes]:
        """Return the frames to forward; kill a worker that sends something else than messages.

        The code of a model can write to the pipe too. What came before is forwarded: it may be the answer.
        """
        frames: list[bytes] = []
        try:
            for payload in self._splitter.feed(data):
                if self._is_forwarded(payload):
                    frames.append(framed(payload))  # noqa: PERF401  # those before an error are forwarded
        except WireError:
            self._kill()
        return frames

    def _is_forwarded(self, payload: bytes) -> bool:
        if self._is_of_own_request(payload, EarlyReport):
            return True
        message = WIRE.decode(payload) if len(payload) <= _MAX_PARSED_BYTES else None
        is_answer = message is None or isinstance(message, (Stage, EarlyReport, *_ANSWERS))
        if is_answer and not self._is_of_own_request(payload, Stage, *_ANSWERS):
            return False
        return self._handle(message, payload)

    def _is_of_own_request(self, payload: bytes, *kinds: type[WireMessage]) -> bool:
        return payload.startswith(tuple(f'{{"type":"{kind.type}","id":{self.id},'.encode() for kind in kinds))

    def _handle(self, message: WireMessage | None, payload: bytes) -> bool:
        """Update the state by a message, and return whether it is forwarded to the server.

        ``message`` is None for a long one, which is a report and is not parsed.
        """
        if isinstance(message, Ready):
            self._pending_ready -= 1
            return False
        if isinstance(message, Declined):
            self.declined = True
            return False
        if isinstance(message, Stage):
            self._stage = message.name
        elif message is None or isinstance(message, _ANSWERS):
            self.done = True
        else:
            return False
        return True
