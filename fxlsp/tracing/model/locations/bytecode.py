"""Bytecode of CPython 3.10 to 3.13: source positions, jumps, frames."""

from __future__ import annotations

import dis
from collections.abc import Iterator
from functools import cache
from itertools import islice
from types import CodeType, FrameType, TracebackType

from .expressions import ByteSpan


def jump_at(code: CodeType, offset: int) -> int | None:
    """Return the offset of an instruction's conditional jump, if any.

    The instruction is the jump, or since CPython 3.13 the ``TO_BOOL`` before it. Offsets are in bytes.
    """
    if dis.opname[code.co_code[offset]] == "TO_BOOL":
        offset += 2
        while dis.opname[code.co_code[offset]] in ("CACHE", "EXTENDED_ARG"):
            offset += 2
    return offset if "JUMP" in dis.opname[code.co_code[offset]] else None


def traceback_instructions(traceback: TracebackType | None) -> list[tuple[CodeType, int]]:
    """Return the code and byte offset of each traceback entry, outermost first."""
    found = []
    while traceback is not None:
        found.append((traceback.tb_frame.f_code, traceback.tb_lasti))
        traceback = traceback.tb_next
    return found


@cache
def positions_of(code: CodeType) -> tuple[tuple[int | None, int | None, int | None, int | None], ...]:
    """Return line, end line, column and end column of each instruction of ``code``."""
    return tuple(code.co_positions())


def byte_span(code: CodeType, offset: int) -> ByteSpan | None:
    """Return the source span of the instruction at a byte offset.

    None before Python 3.11 and for code compiled without columns.
    """
    if not hasattr(code, "co_positions") or offset < 0:
        return None
    line, end_line, column, end_column = next(islice(positions_of(code), offset // 2, None), (None,) * 4)
    if line is None or end_line is None or column is None or end_column is None:
        return None
    return ByteSpan(line, column, end_line, end_column)


def line_of(code: CodeType, offset: int) -> int:
    """Return the line of the instruction at a byte offset, from 1."""
    for start, end, line in code.co_lines():
        if start <= offset < end and line is not None:
            return line
    return code.co_firstlineno


def starts_before(code: CodeType, offset: int) -> Iterator[tuple[int, int | None]]:
    """Yield the start positions of the instructions up to ``offset``, last first.

    Lines count from 1, columns from 0 in bytes; columns are None on Python 3.10.
    """
    if hasattr(code, "co_positions"):
        for line, _, column, _ in reversed(positions_of(code)[: offset // 2 + 1]):
            if line is not None:
                yield line, column
        return
    for start, _, line in reversed(list(code.co_lines())):
        if start <= offset and line is not None:
            yield line, None


def walk_out(frame: FrameType | None) -> list[FrameType]:
    """``frame`` and its callers, innermost first."""
    frames = []
    while frame is not None:
        frames.append(frame)
        frame = frame.f_back
    return frames
