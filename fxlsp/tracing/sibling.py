"""A second process for a second pass, since the first changes the model and whatever the model's code touches."""

from __future__ import annotations

import os
import selectors
import signal
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Generic, TypeVar

import torch

from ..wire.frames import Decoder
from ..wire.messages import WIRE, RecoveredMessage, TraceRequest
from ..wire.vocabulary import WireMessage
from .death import die_with_parent
from .guard import own_action
from .last_words import die_silently
from .second import NoResultError, Second
from .system import resident_megabytes
from .writing import write_all

Kind = TypeVar("Kind", bound="Sibling[Any]")
Result = TypeVar("Result", bound=WireMessage)

_POLL_SECONDS = 0.1
_exit = os._exit
"""Taken before a child's last words are arranged: this process ends without any."""


class Sibling(Generic[Result]):
    """Carries out ``work`` beside the process that makes it, and tells its result."""

    def __init__(self, work: Callable[[], Result], kind: type[Result]) -> None:
        """``kind`` is what ``work`` returns."""
        self._kind = kind
        self._pipe, theirs = os.pipe()
        parent = os.getpid()
        with own_action():
            self._pid = os.fork()
        if self._pid == 0:
            os.close(self._pipe)
            _carry_out(work, theirs, parent)
        os.close(theirs)

    def __enter__(self: Kind) -> Kind:
        return self

    def __exit__(self, *exc: object) -> None:
        self.end()

    def result(self, seconds: float, megabytes: float) -> Result:
        """What ``work`` returned, within these limits.

        Raises:
            NoResultError: it raised, died, or was ended at one of these limits.
        """
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
        """End the process, whatever it does, and forget it."""
        if self._pipe < 0:
            return
        os.close(self._pipe)
        self._pipe = -1
        with suppress(ProcessLookupError), own_action():
            os.kill(self._pid, signal.SIGKILL)
        with suppress(ChildProcessError):
            os.waitpid(self._pid, 0)


class Partner(Sibling[RecoveredMessage], Second):
    """One that is made before there is anything to do, and waits for its request."""

    def __init__(self, work: Callable[[int], RecoveredMessage]) -> None:
        """``work`` is given the pipe on which the request will arrive."""
        theirs, self._requests = os.pipe()

        def begin() -> RecoveredMessage:
            os.close(self._requests)
            return work(theirs)

        super().__init__(begin, RecoveredMessage)
        os.close(theirs)

    def let_go(self) -> None:
        """In a process forked from the one that it belongs to: leave it to that."""
        for descriptor in (self._pipe, self._requests):
            if descriptor >= 0:
                os.close(descriptor)
        self._pipe = self._requests = -1

    def begin(self, request: TraceRequest) -> None:
        """Give it its request; the first one counts."""
        if self._requests < 0:
            return
        with suppress(BrokenPipeError):
            # One that died while it waited has no result: that is told where the result is asked for.
            write_all(self._requests, request.encoded())
        os.close(self._requests)
        self._requests = -1


def _carry_out(work: Callable[[], WireMessage], pipe: int, parent: int) -> None:
    status = 1
    # First of all: else the threads that a backward pass starts race for torch's pool, which no fork inherits.
    torch.set_num_threads(1)
    try:
        die_with_parent(parent)
        die_silently()
        log = _silenced()
        try:
            write_all(pipe, work().encoded())
            status = 0
        except BaseException:
            # What fails here is ours, or the user's in a way the first pass did not meet: it goes to the log.
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
