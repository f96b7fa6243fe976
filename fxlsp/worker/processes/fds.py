"""What a forked child is connected with."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

from ...wire.frames import Decoder
from ...wire.messages import WIRE, TraceRequest

EXIT_INTERNAL_ERROR = 70
"""Exit status after an exception of ours."""


class WorkerPipes(NamedTuple):
    """A child's ends."""

    jobs: int
    """Its one request arrives here."""
    reports: int
    stack: int
    output: int
    """Its standard output and error, once :meth:`redirect` was called, and closed otherwise."""
    checkpoints: int
    """A socket on which a holder that it forks will be asked for children (:mod:`.holding`)."""

    def redirect(self) -> None:
        """Print to ``output``, and read nothing."""
        null = os.open(os.devnull, os.O_RDONLY)
        for descriptor, stream in ((null, 0), (self.output, 1), (self.output, 2)):
            os.dup2(descriptor, stream)
        for descriptor in (null, self.output):
            if descriptor > 2:
                os.close(descriptor)

    def silence(self) -> None:
        """Let go of what belongs to the process that this one was forked from; the numbers stay taken."""
        null = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (self.reports, self.stack, 1, 2):
            os.dup2(null, descriptor)
        os.close(null)

    def replace_with(self, others: WorkerPipes) -> None:
        """Let the numbers of these mean the ``others``: they are known to the last words, and to whoever reports."""
        for theirs, ours in (
            (others.reports, self.reports),
            (others.stack, self.stack),
            (others.output, 1),
            (others.output, 2),
        ):
            os.dup2(theirs, ours)
        for descriptor in (others.reports, others.stack, others.output, others.checkpoints):
            os.close(descriptor)


def await_request(pipe: int) -> TraceRequest:
    """Return the request, with the texts it needs; exits when the pipe is closed without one."""
    decoder = Decoder()
    while data := os.read(pipe, 2**20):
        for message in map(WIRE.parse, decoder.feed(data)):
            assert isinstance(message, TraceRequest)
            os.close(pipe)
            return message
    os._exit(0)


def write_all(descriptor: int, data: bytes) -> None:
    """Write every byte, however many calls that takes."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class StandardStreams(NamedTuple):
    """What a spare's standard input and output were."""

    commands: int
    reports: int


def redirect_standard_streams() -> StandardStreams:
    """Keep standard input and output for the wire: the traced code reads nothing, and prints to standard error."""
    ends = StandardStreams(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return ends


@contextmanager
def silenced() -> Iterator[None]:
    """While this lasts, nothing that is printed arrives anywhere."""
    _flush()
    kept = os.dup(1), os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    os.close(null)
    try:
        yield
    finally:
        _flush()
        for stream, before in zip((1, 2), kept, strict=True):
            os.dup2(before, stream)
            os.close(before)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
