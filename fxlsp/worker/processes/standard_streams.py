"""The standard streams of a process that traces."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Ends(NamedTuple):
    """What a spare's standard input and output were."""

    orders: int
    reports: int


def take_over() -> Ends:
    """Keep standard input and output for the wire: the traced code reads nothing, and prints to standard error."""
    ends = Ends(os.dup(0), os.dup(1))
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
