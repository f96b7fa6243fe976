"""Spans as LSP ranges."""

from __future__ import annotations

from lsprotocol import types

from fxlsp.source.positions import Encoding, LineIndex, Span


def to_position(lines: LineIndex, line: int, column: int, encoding: Encoding) -> types.Position:
    """The LSP position of a place in the text of ``lines``."""
    line0, character = lines.to_lsp(line, column, encoding)
    return types.Position(line=line0, character=character)


def to_range(lines: LineIndex, span: Span, encoding: Encoding) -> types.Range:
    """The LSP range of a span of the text of ``lines``."""
    return types.Range(
        start=to_position(lines, span.line, span.column, encoding),
        end=to_position(lines, span.end_line, span.end_column, encoding),
    )


def from_position(lines: LineIndex, position: types.Position, encoding: Encoding) -> tuple[int, int]:
    """The place, (line, column), of an LSP position in the text of ``lines``."""
    return lines.from_lsp(position.line, position.character, encoding)


def from_range(lines: LineIndex, covered: types.Range, encoding: Encoding) -> Span:
    """The span of an LSP range of the text of ``lines``."""
    return Span(*from_position(lines, covered.start, encoding), *from_position(lines, covered.end, encoding))
