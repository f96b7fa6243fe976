"""File descriptors: a worker's pipes, standard streams, complete writes."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import NamedTuple

from ....wire.frames import Decoder
from ....wire.messages import WIRE, TraceRequest

EXIT_INTERNAL_ERROR = 70
"""Exit status after an internal error in fxlsp."""


SUPERVISOR_ONLY: set[int] = set()
"""Descriptors of this process that its workers must not have: through them, code of a model could reach the server."""


def close_supervisor_only() -> None:
    """Close the descriptors of the supervisor in a process that was forked from it."""
    for descriptor in SUPERVISOR_ONLY:
        with suppress(OSError):
            os.close(descriptor)
    SUPERVISOR_ONLY.clear()


class WorkerPipes(NamedTuple):
    """Worker's ends of its pipes."""

    jobs: int
    """Pipe on which the worker's only request arrives."""
    reports: int
    """Pipe for messages to the supervisor."""
    stack: int
    """Pipe for crash dumps."""
    output: int
    """Pipe for standard output and error, closed after :meth:`redirect`."""
    checkpoints: int
    """Socket on which a checkpoint that the worker forks receives its requests
    (:mod:`...processes.worker.forking_load`)."""

    def redirect(self) -> None:
        """Connect standard output and error to ``output``, and standard input to nothing."""
        null = os.open(os.devnull, os.O_RDONLY)
        for descriptor, stream in ((null, 0), (self.output, 1), (self.output, 2)):
            os.dup2(descriptor, stream)
        for descriptor in (null, self.output):
            if descriptor > 2:
                os.close(descriptor)

    def silence(self) -> None:
        """Disconnect a forked process from its parent's pipes; descriptors stay open."""
        null = os.open(os.devnull, os.O_WRONLY)
        for descriptor in (self.reports, self.stack, 1, 2):
            os.dup2(null, descriptor)
        os.close(null)

    def replace_with(self, others: WorkerPipes) -> None:
        """Replace the pipes behind these descriptors by the ``others``.

        The numbers remain, because crash dumps and reports use them.
        """
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
    """Return the request that arrives on a pipe; exit if it closes without one."""
    decoder = Decoder()
    while data := os.read(pipe, 2**20):
        for message in map(WIRE.parse, decoder.feed(data)):
            assert isinstance(message, TraceRequest)
            os.close(pipe)
            return message
    os._exit(0)


def write_all(descriptor: int, data: bytes) -> None:
    """Write all bytes to a descriptor, with as many calls as necessary."""
    view = memoryview(data)
    while view:
        view = view[os.write(descriptor, view) :]


class StandardStreams(NamedTuple):
    """Descriptors of a spawned worker's original standard input and output."""

    commands: int
    reports: int


def redirect_standard_streams() -> StandardStreams:
    """Reserve standard input and output for the wire; return new descriptors.

    The traced code then reads nothing, and prints to standard error.
    """
    ends = StandardStreams(os.dup(0), os.dup(1))
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return ends


@contextmanager
def silenced() -> Iterator[None]:
    """Discard all output to standard output and error inside this context."""
    _flush()
    saved = os.dup(1), os.dup(2)
    null = os.open(os.devnull, os.O_WRONLY)
    for stream in (1, 2):
        os.dup2(null, stream)
    os.close(null)
    try:
        yield
    finally:
        _flush()
        for stream, before in zip((1, 2), saved, strict=True):
            os.dup2(before, stream)
            os.close(before)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
