"""Tables as aligned text or as Markdown, and titles that tell their rows apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fxlsp.ide.render.rich_text import RichText, words

MAX_LINES = 12
"""Most lines of a hover; a longer one hides the code."""
_MIN_LINES = 4
"""Least lines of a table in a long hover: the heading, two rows, and how many are missing."""


_MAX_TITLE = 48


@dataclass(frozen=True, slots=True)
class TextTable:
    """Table whose number of shown rows is not decided yet.

    Columns that are empty in every row are left out.
    """

    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[str] = frozenset()
    """Headings of the columns that are aligned right."""

    def lines(self, limit: int | None = MAX_LINES) -> list[str]:
        """Return the heading and the rows with aligned columns.

        If there are more than ``limit`` lines, the last line counts the missing rows. Rows are never cut.
        """
        cells = self._cells(limit)
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        pads = [str.rjust if name in self.numbers else str.ljust for name in cells[0]]
        padded = ([pad(cell, width) for pad, cell, width in zip(pads, row, widths, strict=True)] for row in cells)
        return [*("  ".join(row).rstrip() for row in padded), *self._more(cells)]

    def text(self, limit: int | None = MAX_LINES) -> RichText:
        """Return the lines of :meth:`lines` in a form that keeps their columns."""
        plain = "\n".join(self.lines(limit))
        cells = self._cells(limit)
        tabular = "\n".join([self._markdown(cells), *(f"\n{more}" for more in self._more(cells))])
        return RichText(f"```text\n{plain}\n```", plain, tabular)

    def text_fitting(self, other_lines: int) -> RichText:
        """Return as many lines as fit in a hover with ``other_lines`` other lines."""
        return self.text(max(MAX_LINES - other_lines, _MIN_LINES))

    @property
    def markdown(self) -> str:
        """All rows as a Markdown table."""
        return self._markdown(self._cells(None))

    def _markdown(self, cells: Sequence[Sequence[str]]) -> str:
        lines = [[words(cell).markdown for cell in row] for row in cells]
        lines.insert(1, ["---:" if name in self.numbers else "---" for name in cells[0]])
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)

    def _cells(self, limit: int | None) -> list[list[str]]:
        """Return the cells shown within ``limit`` lines, the heading first."""
        shown = self.rows if limit is None or len(self.rows) < limit else self.rows[: limit - 2]
        kept = [index for index in range(len(self.heading)) if any(row[index] for row in self.rows)]
        return [[row[index] for index in kept] for row in (self.heading, *shown)]

    def _more(self, cells: Sequence[Sequence[str]]) -> list[str]:
        missing = len(self.rows) + 1 - len(cells)
        return [f"… {missing} more"] if missing else []


def table_lines(heading: Sequence[str], rows: Sequence[Sequence[str]], limit: int | None = MAX_LINES) -> list[str]:
    """Return the lines of a table, as :meth:`TextTable.lines`."""
    return TextTable(tuple(heading), tuple(map(tuple, rows))).lines(limit)


def distinguishing(titles: Sequence[str]) -> list[str]:
    """Return what distinguishes modules of one class: the arguments that differ.

    ``Conv2d(3, 8, kernel_size=(3, 3))`` and ``Conv2d(8, 8, kernel_size=(3, 3))`` give ``3`` and ``8``. Titles of
    several classes, or with different numbers of arguments, are shortened at their end.
    """
    split = [_split(title) for title in titles]
    heads = {head for head, _ in split}
    counts = {len(arguments) for _, arguments in split}
    if len(heads) > 1 or len(counts) > 1:
        return [_shortened(title) for title in titles]
    columns = [column for column in zip(*(arguments for _, arguments in split), strict=True) if len(set(column)) > 1]
    return [_shortened(", ".join(row)) for row in zip(*columns, strict=True)] if columns else ["" for _ in titles]


def _split(title: str) -> tuple[str, list[str]]:
    """Return the name before the parenthesis and the arguments in it.

    Commas inside nested brackets do not separate arguments.
    """
    head, parenthesis, rest = title.partition("(")
    if not parenthesis or not rest.endswith(")"):
        return title, []
    arguments, depth = [""], 0
    for character in rest[:-1]:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += character
    return head, [argument.strip() for argument in arguments]


def _shortened(title: str) -> str:
    return title if len(title) <= _MAX_TITLE else title[: _MAX_TITLE - 1] + "…"
