"""Runners of the recovering pass: side process, or inline after the plain pass.

Each pass changes its model and everything that the model's code changes, so each needs a process of its own, or a new
model. The same is true of other work on the model. The :class:`RecoveryRunner` implements one of the two.
"""

from __future__ import annotations

import gc
import os
import select
import selectors
import signal
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

import torch

from ....wire.frames import Decoder
from ....wire.messages import WIRE, RecoveredMessage, ReportMessage, TraceRequest
from ....wire.vocabulary import WireMessage
from ..sandbox.audit import own_processes_allowed
from .crash_dump import disable_crash_dump
from .fallback_report import ENDED_EARLY
from .fds import write_all
from .lifetime import die_with_parent
from .system import resident_megabytes

Kind = TypeVar("Kind", bound="SideTask[Any]")
Result = TypeVar("Result", bound=WireMessage)

_POLL_SECONDS = 0.1
_exit = os._exit
"""The original, taken before crash dumps patch it: a side process exits without a dump."""


class NoResultError(Exception):
    """A side task has no result; the message is the reason."""


class SideTask(ABC, Generic[Result]):
    """Work that changes the model, done at the latest inside its context."""

    changes_model = False
    """Whether the work changed the model of this process, which must then be built again."""

    def __enter__(self: Kind) -> Kind:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    @abstractmethod
    def start(self) -> None:
        """Start the work unless it is done already."""

    @abstractmethod
    def end(self) -> None:
        """Stop the work."""

    @abstractmethod
    def result(self, seconds: float, megabytes: float) -> Result:
        """Return the message that the work returned, within limits of time and memory.

        Raises:
            NoResultError: the work raised, died, or was killed at a limit.
        """


class RecoveryRunner(ABC):
    """Runner of the recovering pass of one request, and of other side tasks."""

    @abstractmethod
    def begin(self, request: TraceRequest) -> None:
        """Set the request; later calls have no effect."""

    @abstractmethod
    def side_task(self, work: Callable[[], Result], kind: type[Result]) -> SideTask[Result]:
        """Return a side task for work that changes the model before the plain pass.

        ``kind`` is the class of the message that ``work`` returns.
        """

    @abstractmethod
    def renew(self) -> None:
        """Drop the request and its result, so that another one can begin.

        What the request loaded in this process has been unloaded.
        """

    @abstractmethod
    def has_result(self) -> bool:
        """Return whether :meth:`result` would return at once."""

    @abstractmethod
    def after_plain_pass(self, fallback: Callable[[], ReportMessage], unload: Callable[[], None]) -> None:
        """Prepare for the recovering pass after the plain pass.

        Args:
            fallback: returns the report to use if this process dies in the recovering pass.
            unload: unloads what was loaded for the plain pass.
        """

    @abstractmethod
    def result(self, seconds: float, megabytes: float) -> RecoveredMessage:
        """Return the message of the recovering pass, within limits of time and memory.

        Raises:
            NoResultError: the pass has no result.
        """


class SideProcess(SideTask[Result]):
    """Side task in a process that is forked when the context is entered."""

    def __init__(self, work: Callable[[], Result], kind: type[Result]) -> None:
        """
        Args:
            work: the work, called in the forked process.
            kind: class of the message that ``work`` returns.
        """
        self._work = work
        self._kind = kind
        self._pipe = -1
        self._pid = -1

    def start(self) -> None:
        self._pipe, theirs = os.pipe()
        parent = os.getpid()
        with own_processes_allowed():
            self._pid = os.fork()
        if self._pid == 0:
            os.close(self._pipe)
            _carry_out(self._work, theirs, parent)
        os.close(theirs)

    def result(self, seconds: float, megabytes: float) -> Result:
        deadline = time.monotonic() + seconds
        decoder = Decoder()
        try:
            with selectors.DefaultSelector() as selector:
                selector.register(self._pipe, selectors.EVENT_READ)
                while time.monotonic() < deadline:
                    if resident_megabytes(self._pid) > megabytes:
                        raise NoResultError("needed too much memory")
                    if not selector.select(_POLL_SECONDS):
                        continue
                    data = os.read(self._pipe, 2**20)
                    if not data:
                        raise NoResultError("ended early")
                    for message in map(WIRE.parse, decoder.feed(data)):
                        assert isinstance(message, self._kind)
                        return message
            raise NoResultError("took too long")
        finally:
            self.end()

    def end(self) -> None:
        """Kill the process, and reap it."""
        if self._pipe < 0:
            return
        os.close(self._pipe)
        self._pipe = -1
        with suppress(ProcessLookupError), own_processes_allowed():
            os.kill(self._pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


class WaitingSideProcess(SideProcess[RecoveredMessage], RecoveryRunner):
    """Runner of the recovering pass in a side process that waits for its request.

    The process is forked before the request is known, and waits for it on a pipe.
    """

    def __init__(
        self, work: Callable[[int], RecoveredMessage], again: Callable[[int], RecoveredMessage] | None = None
    ) -> None:
        """
        Args:
            work: the recovering pass, called with the descriptor of the pipe on which the request will arrive.
            again: the same in a process that is forked later, from one that has executed a request; by default
                ``work``.
        """
        super().__init__(lambda: self._begin(work), RecoveredMessage)
        self._again = again or work
        self._theirs = self._requests = -1

    def _begin(self, work: Callable[[int], RecoveredMessage]) -> RecoveredMessage:
        os.close(self._requests)
        return work(self._theirs)

    def start(self) -> None:
        self._theirs, self._requests = os.pipe()
        super().start()
        os.close(self._theirs)

    def renew(self) -> None:
        self.end()
        if self._requests >= 0:
            os.close(self._requests)
        self._work = lambda: self._begin(self._again)
        self.start()

    def abandon(self) -> None:
        """Close the pipes in a forked process without killing the side process."""
        for descriptor in (self._pipe, self._requests):
            if descriptor >= 0:
                os.close(descriptor)
        self._pipe = self._requests = -1

    def begin(self, request: TraceRequest) -> None:
        if self._requests < 0:
            return
        with suppress(BrokenPipeError):
            # If the process died while it waited, result() raises.
            write_all(self._requests, request.encoded())
        os.close(self._requests)
        self._requests = -1

    def side_task(self, work: Callable[[], Result], kind: type[Result]) -> SideTask[Result]:
        return SideProcess(work, kind)

    def has_result(self) -> bool:
        return self._pipe >= 0 and bool(select.select([self._pipe], [], [], 0)[0])

    def after_plain_pass(self, fallback: Callable[[], ReportMessage], unload: Callable[[], None]) -> None:
        """Do nothing: the recovering pass runs in its own process, with its own modules."""


class InlineRunner(RecoveryRunner):
    """Runner of the recovering pass in the process of the plain pass, after it.

    The supervisor enforces the limits on the process, which may therefore die before it reports a result.
    """

    def __init__(
        self, work: Callable[[TraceRequest], RecoveredMessage], send_fallback: Callable[[ReportMessage], None]
    ) -> None:
        """
        Args:
            work: the recovering pass of a request.
            send_fallback: called before the pass with the report to use if this process dies in it.
        """
        self._foresee = send_fallback
        self._work = work
        self._request: TraceRequest | None = None

    def begin(self, request: TraceRequest) -> None:
        if self._request is None:
            self._request = request

    def renew(self) -> None:
        self._request = None

    def side_task(self, work: Callable[[], Result], kind: type[Result]) -> SideTask[Result]:
        return _InlineTask(work)

    def has_result(self) -> bool:
        return False

    def after_plain_pass(self, fallback: Callable[[], ReportMessage], unload: Callable[[], None]) -> None:
        self._foresee(fallback())
        unload()

    def result(self, seconds: float, megabytes: float) -> RecoveredMessage:
        assert self._request is not None
        # Objects of the plain pass would not be collected otherwise, and count for the memory limit.
        gc.collect()
        try:
            return self._work(self._request)
        except BaseException as error:
            # An internal error, or an error of the user's code that the plain pass did not have.
            raise NoResultError(ENDED_EARLY) from error


class _InlineTask(SideTask[Result]):
    """Side task that is done at once in this process."""

    changes_model = True

    def __init__(self, work: Callable[[], Result]) -> None:
        self._result: Result | None = None
        with suppress(Exception):
            self._result = work()

    def start(self) -> None:
        """It is done."""

    def end(self) -> None:
        """It is done."""

    def result(self, seconds: float, megabytes: float) -> Result:
        if self._result is None:
            raise NoResultError(ENDED_EARLY)
        return self._result


def _carry_out(work: Callable[[], WireMessage], pipe: int, parent: int) -> None:
    status = 1
    # First, because threads that a backward pass starts would race for torch's pool, which a fork does not inherit.
    torch.set_num_threads(1)
    try:
        die_with_parent(parent)
        disable_crash_dump()
        log = _silenced()
        try:
            write_all(pipe, work().encoded())
            status = 0
        except BaseException:
            # An internal error, or an error of the user's code that the plain pass did not have: it goes to the log.
            write_all(log, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        _exit(status)


def _silenced() -> int:
    """Discard the output of the model's code, and return a descriptor of the log.

    The process of the plain pass prints the same output. Internal errors go to the log.
    """
    log = os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    os.close(null)
    return log
