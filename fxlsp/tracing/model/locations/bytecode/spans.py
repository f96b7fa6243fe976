"""Lines and columns of instructions. No opcode is read."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from itertools import islice
from types import CodeType

from ..expressions import ByteSpan

HAS_COLUMNS = hasattr(CodeType, "co_positions")
"""Whether this Python knows the columns of instructions, as it does since 3.11; before, it knows their lines only."""


@cache
def positions_of(code: CodeType) -> tuple[tuple[int | None, int | None, int | None, int | None], ...]:
    """Return line, end line, column and end column of each instruction of ``code``."""
    return tuple(code.co_positions())


def byte_span(code: CodeType, offset: int) -> ByteSpan | None:
    """Return the source span of the instruction at a byte offset.

    None before Python 3.11 and for code compiled without columns.
    """
    if not HAS_COLUMNS or offset < 0:
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
    if HAS_COLUMNS:
        for line, _, column, _ in reversed(positions_of(code)[: offset // 2 + 1]):
            if line is not None:
                yield line, column
        return
    for start, _, line in reversed(list(code.co_lines())):
        if start <= offset and line is not None:
            yield line, None


def with_lines_of(code: CodeType, original: CodeType) -> CodeType:
    """Return ``code`` with the line numbers of another one that has the same instructions."""
    return code.replace(co_linetable=original.co_linetable)
