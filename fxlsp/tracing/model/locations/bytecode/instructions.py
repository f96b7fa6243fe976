"""Instructions that frames run, and that exceptions left. No opcode is read."""

from __future__ import annotations

from types import CodeType, FrameType, TracebackType
from typing import NamedTuple


class Instruction(NamedTuple):
    """Running instruction, with the module whose ``forward`` it belongs to."""

    code: CodeType
    offset: int
    """Bytes from the start of the code; negative before the first instruction."""
    module_path: str | None = None
    """Path of that module; None outside a trace."""


def instruction_of(frame: FrameType, module_path: str | None = None) -> Instruction:
    """Return the instruction that a frame runs, whatever its opcode is."""
    return Instruction(frame.f_code, frame.f_lasti, module_path)


def raising_instruction(entry: TracebackType) -> Instruction:
    """Return the instruction at which an exception left the frame of a traceback entry, whatever its opcode is."""
    return Instruction(entry.tb_frame.f_code, entry.tb_lasti)


def traceback_instructions(traceback: TracebackType | None) -> list[tuple[CodeType, int]]:
    """Return the code and byte offset of each traceback entry, outermost first."""
    found = []
    while traceback is not None:
        found.append((traceback.tb_frame.f_code, traceback.tb_lasti))
        traceback = traceback.tb_next
    return found


def walk_out(frame: FrameType | None) -> list[FrameType]:
    """Return a frame and its callers, innermost first."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames
