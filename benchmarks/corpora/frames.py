"""Selection of the frames that belong to the model.

Frames of torch, the standard library and this benchmark do not count, nor those of files that cannot be read.
"""

from __future__ import annotations

import os
import sysconfig
from collections.abc import Iterator
from functools import cache
from types import FrameType, TracebackType

import torch

_TORCH = os.path.join(os.path.dirname(torch.__file__), "")
_OURS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "")
_STANDARD_LIBRARY = os.path.join(sysconfig.get_path("stdlib"), "")


@cache
def counts(filename: str) -> bool:
    """Return whether a frame of this file is the model's."""
    if filename.startswith((_TORCH, _OURS, "<")):
        return False
    if filename.startswith(_STANDARD_LIBRARY) and "-packages" not in filename:
        return False
    return os.path.isfile(filename)


def running_lines(frame: FrameType | None) -> Iterator[tuple[str, int]]:
    """Yield (file, line) of ``frame`` and its callers, innermost first."""
    while frame is not None:
        if counts(frame.f_code.co_filename):
            yield frame.f_code.co_filename, frame.f_lineno
        frame = frame.f_back


def raised_at(traceback: TracebackType | None) -> tuple[str, int] | None:
    """Return (file, line) of the innermost frame of a traceback.

    None if it has none that counts.
    """
    place = None
    while traceback is not None:
        if counts(traceback.tb_frame.f_code.co_filename):
            place = traceback.tb_frame.f_code.co_filename, traceback.tb_lineno
        traceback = traceback.tb_next
    return place
