"""Excerpts of a source file around a problem, with the problem underlined."""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Iterator

from fxlsp.report.locations import Location
from fxlsp.source.text.notebooks.ipynb import read_cells
from fxlsp.source.text.positions import LineIndex

_BEFORE = 2
_AFTER = 1
_LONGEST = 8
"""Lines of an underlined expression; further lines are left out."""
_TAB = "    "


def shown_path(path: str) -> str:
    """Return a path as it is shown: relative for a file below the working directory."""
    relative = os.path.relpath(path)
    return path if relative.startswith("..") else relative


def location_text(location: Location) -> str:
    """Return ``path:line:column``; in a notebook ``path:cell 3:line:column``."""
    cell = "" if location.cell is None else f"cell {location.cell}:"
    return f"{shown_path(location.file)}:{cell}{location.line}:{location.column}"


def excerpt(location: Location) -> list[str]:
    """Return numbered lines with the expression underlined.

    Empty if the file cannot be read.
    """
    index = _lines(location)
    if index is None:
        return []
    last_underlined = min(location.end_line, location.line + _LONGEST - 1)
    first = max(1, location.line - _BEFORE)
    last = last_underlined + _AFTER
    lines = [(number, index.line_text(number)) for number in range(first, last + 1)]
    while lines and not lines[-1][1].strip() and lines[-1][0] > last_underlined:
        lines.pop()
    width = len(str(last))
    bar = f"{'':{width}} |"
    return [bar, *_numbered(lines, location, last_underlined, width), bar]


def _lines(location: Location) -> LineIndex | None:
    """Return the lines of the file, or cell, that contains a location."""
    try:
        if location.cell is not None:
            return read_cells(location.file).cells[location.cell - 1].lines
        with open(location.file, encoding="utf-8", errors="replace", newline="") as file:
            return LineIndex(file.read())
    except (OSError, UnicodeDecodeError, SyntaxError, IndexError):
        return None


def _numbered(lines: list[tuple[int, str]], location: Location, last: int, width: int) -> Iterator[str]:
    for number, text in lines:
        yield f"{number:>{width}} | {_expanded(text)}".rstrip()
        if location.line <= number <= last:
            start = location.column if number == location.line else len(text) - len(text.lstrip()) + 1
            end = location.end_column if number == location.end_line else len(text) + 1
            indent = _columns(text[: start - 1])
            yield f"{'':{width}} | {'':{indent}}{'^' * max(1, _columns(text[start - 1 : end - 1]))}"


def _expanded(text: str) -> str:
    return text.replace("\t", _TAB)


def _columns(text: str) -> int:
    """Return the number of terminal columns that the text takes."""
    return sum(_width(character) for character in _expanded(text))


def _width(character: str) -> int:
    if unicodedata.combining(character):
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
