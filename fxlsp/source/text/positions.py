"""Positions in a text and conversions between coordinate systems.

There are four:

- offset: code points from the start of the text, from 0;
- place: (line, column) from 1, columns in code points, as in the public JSON (``fxlsp.report.locations``);
- LSP position: (line, character) from 0, characters in the code units that client and server agreed on;
- tree-sitter point: (row, column) from 0, columns in bytes of UTF-8. ``ast`` counts columns in the same way.

The server uses places. The others are allowed in the functions of this file, in ``documents`` (offsets and points) and
in the code that converts them. Lines end at ``\\n``, ``\\r\\n`` and ``\\r`` only.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from typing import Literal

from fxlsp.report.locations import Location

Encoding = Literal["utf-8", "utf-16", "utf-32"]
"""The unit of an LSP position: the names of the protocol's ``PositionEncodingKind``."""

_TERMINATOR = re.compile(r"\r\n|\r|\n")
_CONTINUATION_BYTES = bytes(range(0x80, 0xC0))


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """Range of text between two places, the end exclusive."""

    line: int
    column: int
    end_line: int
    end_column: int

    def contains(self, line: int, column: int) -> bool:
        """Return whether a cursor is on the span or right after its last character."""
        return (self.line, self.column) <= (line, column) <= (self.end_line, self.end_column)

    @property
    def size(self) -> tuple[int, int]:
        """A key that orders spans containing the same place: an inner span is smaller."""
        return self.end_line - self.line, self.end_column - self.column

    def encloses(self, other: Span) -> bool:
        """Return whether this span contains all of ``other``."""
        return self.contains(other.line, other.column) and self.contains(other.end_line, other.end_column)

    def joined(self, other: Span) -> Span:
        """Return the smallest span that contains both."""
        start = min((self.line, self.column), (other.line, other.column))
        return Span(*start, *max((self.end_line, self.end_column), (other.end_line, other.end_column)))

    @classmethod
    def of(cls, location: Location) -> Span:
        """Return the span of a location, without its file."""
        return cls(location.line, location.column, location.end_line, location.end_column)


class LineIndex:
    """The lines of one text, and conversions of positions in it.

    Every conversion clamps a position outside the text to the nearest one inside.
    """

    __slots__ = ("_starts", "text")

    def __init__(self, text: str) -> None:
        self.text = text
        self._starts = [0, *(match.end() for match in _TERMINATOR.finditer(text))]

    @property
    def line_count(self) -> int:
        """Number of lines; the possibly empty text after the last terminator counts."""
        return len(self._starts)

    def line_text(self, line: int) -> str:
        """Return a line without its terminator; "" for a line that does not exist."""
        if not 1 <= line <= len(self._starts):
            return ""
        start = self._starts[line - 1]
        if line == len(self._starts):
            return self.text[start:]
        end = self._starts[line]
        return self.text[start : end - (2 if self.text.startswith("\r\n", end - 2) else 1)]

    def offset(self, line: int, column: int) -> int:
        """Return the offset of a place; a column beyond its line is the end of it."""
        if line < 1:
            return 0
        if line > len(self._starts):
            return len(self.text)
        return self._starts[line - 1] + min(max(column - 1, 0), len(self.line_text(line)))

    def place(self, offset: int) -> tuple[int, int]:
        """Return the place of an offset; within a terminator, the end of the line."""
        offset = min(max(offset, 0), len(self.text))
        line = bisect_right(self._starts, offset)
        return line, min(offset - self._starts[line - 1], len(self.line_text(line))) + 1

    def span(self, start: int, end: int) -> Span:
        """Return the span between two offsets."""
        return Span(*self.place(start), *self.place(end))

    def slice(self, span: Span) -> str:
        """Return the text of a span."""
        return self.text[self.offset(span.line, span.column) : self.offset(span.end_line, span.end_column)]

    def to_lsp(self, line: int, column: int, encoding: Encoding) -> tuple[int, int]:
        """Return the LSP position of a place."""
        line, column = self.place(self.offset(line, column))
        return line - 1, _units(self.line_text(line)[: column - 1], encoding)

    def from_lsp(self, line0: int, character: int, encoding: Encoding) -> tuple[int, int]:
        """Return the place of an LSP position; within a character, the place before it."""
        if line0 >= len(self._starts):
            return self.place(len(self.text))
        line = max(line0, 0) + 1
        return line, _code_points(self.line_text(line), max(character, 0), encoding) + 1

    def from_bytes(self, row0: int, byte_column: int) -> tuple[int, int]:
        """Return the place of a tree-sitter point."""
        if row0 >= len(self._starts):
            return self.place(len(self.text))
        line = row0 + 1
        text = self.line_text(line)
        if not text.isascii():
            prefix = text.encode("utf-8", "surrogatepass")[:byte_column]
            return line, len(prefix.translate(None, _CONTINUATION_BYTES)) + 1
        return line, min(byte_column, len(text)) + 1

    def to_bytes(self, line: int, column: int) -> tuple[int, int]:
        """Return the tree-sitter point of a place."""
        return self.to_lsp(line, column, "utf-8")


def _units(text: str, encoding: Encoding) -> int:
    """Return the length of a text in code units."""
    if encoding == "utf-32" or text.isascii():
        return len(text)
    if encoding == "utf-8":
        return len(text.encode("utf-8", "surrogatepass"))
    return len(text.encode("utf-16-le", "surrogatepass")) // 2


def _code_points(line: str, units: int, encoding: Encoding) -> int:
    """Return the number of whole code points in ``units`` code units of a line."""
    if encoding == "utf-32" or line.isascii():
        return min(units, len(line))
    passed = 0
    for index, character in enumerate(line):
        passed += _units(character, encoding)
        if passed > units:
            return index
    return len(line)
