"""Which lines of the user's code an error passed through, and what they name."""

from __future__ import annotations

import linecache
import re
from collections.abc import Sequence
from types import FrameType, TracebackType
from typing import Any

import torch

from ..frames import Places, is_installed

Line = tuple[FrameType, int]
"""A frame, and the line at which it stood."""


def words_at(frames: Sequence[Line]) -> set[str]:
    """Names on the failing lines."""
    return set(re.findall(r"[A-Za-z_]\w*", " ".join(failing_text(frame, line) for frame, line in frames)))


def own_frames(traceback: TracebackType | None, places: Places) -> list[Line]:
    """Frames of the user's code with their lines, innermost first."""
    found = []
    while traceback is not None:
        file = traceback.tb_frame.f_code.co_filename
        if places.is_shown(file) and not is_installed(file):
            found.append((traceback.tb_frame, traceback.tb_lineno))
        traceback = traceback.tb_next
    return found[::-1]


def failing_text(frame: FrameType, line: int) -> str:
    """The line that failed; of a ``raise`` the condition above it too."""
    lines = [linecache.getline(frame.f_code.co_filename, number) for number in range(max(1, line - 3), line + 1)]
    return "".join(lines) if "raise" in lines[-1] else lines[-1]


def held_values(frame: FrameType) -> list[Any]:
    """Values of local variables that the frame's code names, and of attributes of its ``self``."""
    values = list(frame.f_locals.values())
    owner = frame.f_locals.get("self")
    return values + (list(vars(owner).values()) if isinstance(owner, torch.nn.Module) else [])
