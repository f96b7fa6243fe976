"""Where the recovering pass runs: beside the plain pass in a process of its own, or after it in the same one.

Either pass changes its model and whatever the model's code touches, so each needs a process of its own, or a model that
is made anew for it. The same is true of other work on the model. A :class:`RecoveryRunner` decides which of the two.
"""

from __future__ import annotations

import gc
import os
import selectors
import signal
import time
import traceback
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

import torch

from ...wire.frames import Decoder
from ...wire.messages import WIRE, RecoveredMessage, ReportMessage, TraceRequest
from ...wire.vocabulary import WireMessage
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
"""Taken before a child's crash dump is arranged: this process ends without one."""


class NoResultError(Exception):
    """A recovering pass, or other work aside, has no result; the message says why."""


class SideTask(ABC, Generic[Result]):
    """Work that changes the model: carried out at the latest while the context manager lasts."""

    changes_model = False
    """Whether the model of this process is another one now, so that it must be made anew."""

    def __enter__(self: Kind) -> Kind:
        self.start()
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    @abstractmethod
    def start(self) -> None:
        """Start the work, unless it is done already."""

    @abstractmethod
    def end(self) -> None:
        """Stop the work, whatever it does."""

    @abstractmethod
    def result(self, seconds: float, megabytes: float) -> Result:
        """Return the message that the work returned, within these limits.

        Raises:
            NoResultError: it raised, died, or was ended at one of these limits.
        """


class RecoveryRunner(ABC):
    """Runs the recovering pass of one request, and other work on the model that the plain pass must not see."""

    @abstractmethod
    def begin(self, request: TraceRequest) -> None:
        """Give it its request; the first one counts."""

    @abstractmethod
    def side_task(self, work: Callable[[], Result], kind: type[Result]) -> SideTask[Result]:
        """Work that changes the model, apart from the plain pass that is still to run; ``kind`` is what it returns."""

    @abstractmethod
    def after_plain_pass(self, fallback: Callable[[], ReportMessage], unload: Callable[[], None]) -> None:
        """Return the plain pass is over.

        Args:
            fallback: makes the answer to give if this process does not survive the recovering pass.
            unload: forgets what was loaded for the plain pass.
        """

    @abstractmethod
    def result(self, seconds: float, megabytes: float) -> RecoveredMessage:
        """Return the message of the recovering pass, within these limits.

        Raises:
            NoResultError: it has none.
        """


class SideProcess(SideTask[Result]):
    """Carries out ``work`` in a process that is forked when the context manager is entered."""

    def __init__(self, work: Callable[[], Result], kind: type[Result]) -> None:
        """``kind`` is what ``work`` returns."""
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
    """Runs the recovering pass in a process that is forked before its request is known, and waits for it."""

    def __init__(self, work: Callable[[int], RecoveredMessage]) -> None:
        """``work`` is given the pipe on which the request will arrive."""
        self._theirs, self._requests = os.pipe()

        def begin() -> RecoveredMessage:
            os.close(self._requests)
            return work(self._theirs)

        super().__init__(begin, RecoveredMessage)

    def start(self) -> None:
        super().start()
        os.close(self._theirs)

    def abandon(self) -> None:
        """In a process forked from the one that it belongs to: leave it to that."""
        for descriptor in (self._pipe, self._requests):
            if descriptor >= 0:
                os.close(descriptor)
        self._pipe = self._requests = -1

    def begin(self, request: TraceRequest) -> None:
        if self._requests < 0:
            return
        with suppress(BrokenPipeError):
            # One that died while it waited has no result: result() raises that.
            write_all(self._requests, request.encoded())
        os.close(self._requests)
        self._requests = -1

    def side_task(self, work: Callable[[], Result], kind: type[Result]) -> SideTask[Result]:
        return SideProcess(work, kind)

    def after_plain_pass(self, fallback: Callable[[], ReportMessage], unload: Callable[[], None]) -> None:
        """Return the recovering pass cannot end this process, and has loaded everything by itself."""


class InlineRunner(RecoveryRunner):
    """Runs the recovering pass in the process of the plain pass, after it, when its result is wanted.

    Its limits are those of the process, which its supervisor enforces: this process may not live to report anything.
    """

    def __init__(
        self, work: Callable[[TraceRequest], RecoveredMessage], send_fallback: Callable[[ReportMessage], None]
    ) -> None:
        """
        Args:
            work: the recovering pass of a request.
            foresee: is given, before that, the answer for the case that this process does not survive it.
        """
        self._foresee = send_fallback
        self._work = work
        self._request: TraceRequest | None = None

    def begin(self, request: TraceRequest) -> None:
        if self._request is None:
            self._request = request

    def side_task(self, work: Callable[[], Result], kind: type[Result]) -> SideTask[Result]:
        return _InlineTask(work)

    def after_plain_pass(self, fallback: Callable[[], ReportMessage], unload: Callable[[], None]) -> None:
        self._foresee(fallback())
        unload()

    def result(self, seconds: float, megabytes: float) -> RecoveredMessage:
        assert self._request is not None
        # What the plain pass made is not collected otherwise, and counts where memory is limited.
        gc.collect()
        try:
            return self._work(self._request)
        except BaseException as error:
            # What fails here is ours, or the user's in a way that the plain pass did not meet.
            raise NoResultError(ENDED_EARLY) from error


class _InlineTask(SideTask[Result]):
    """Carries out ``work`` at once."""

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
    # First of all: else the threads that a backward pass starts race for torch's pool, which no fork inherits.
    torch.set_num_threads(1)
    try:
        die_with_parent(parent)
        disable_crash_dump()
        log = _silenced()
        try:
            write_all(pipe, work().encoded())
            status = 0
        except BaseException:
            # What fails here is ours, or the user's in a way the plain pass did not meet: it goes to the log.
            write_all(log, traceback.format_exc().encode("utf-8", "replace"))
    finally:
        _exit(status)


def _silenced() -> int:
    """Let the model's code print nowhere, since it prints in the first process too; where errors of ours still go."""
    log = os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    os.close(null)
    return log
