"""What a forked child is connected with."""

from __future__ import annotations

import os
from typing import NamedTuple

from ...wire.frames import Decoder
from ...wire.messages import WIRE, TraceRequest

FAULT = 70
"""Exit status after an exception of ours."""


class Pipes(NamedTuple):
    """A child's ends."""

    jobs: int
    """Its one request arrives here."""
    reports: int
    stack: int
    output: int
    """Its standard output and error, once :meth:`redirect` was called, and closed otherwise."""
    holders: int
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

    def become(self, others: Pipes) -> None:
        """Let the numbers of these mean the ``others``: they are known to the last words, and to whoever reports."""
        for theirs, ours in (
            (others.reports, self.reports),
            (others.stack, self.stack),
            (others.output, 1),
            (others.output, 2),
        ):
            os.dup2(theirs, ours)
        for descriptor in (others.reports, others.stack, others.output, others.holders):
            os.close(descriptor)


def await_request(pipe: int) -> TraceRequest:
    """The request, with the texts it needs; exits when the pipe is closed without one."""
    decoder = Decoder()
    while data := os.read(pipe, 2**20):
        for message in map(WIRE.parse, decoder.feed(data)):
            assert isinstance(message, TraceRequest)
            os.close(pipe)
            return message
    os._exit(0)
