"""Tables: as aligned text for terminals, plain text and code blocks, or in the markup of those who render it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fxlsp.ide.render.rich_text import RichText, words

MAX_LINES = 12
"""The most lines of a hover: what is longer hides the code."""
_MIN_LINES = 4
"""Lines of a table whatever else is said: heading, two rows and how many are missing."""


@dataclass(frozen=True, slots=True)
class TextTable:
    """What a table says, before it is known how much of it is shown. Columns that are empty in every row are not."""

    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def lines(self, limit: int | None = MAX_LINES) -> list[str]:
        """The heading and the rows, columns aligned.

        Of more than ``limit`` lines, the last says how many rows are missing. Rows are never cut.
        """
        cells = self._cells(limit)
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in cells)
        return [*("  ".join(row).rstrip() for row in padded), *self._more(cells)]

    def text(self, limit: int | None = MAX_LINES) -> RichText:
        """The lines that :meth:`lines` gives, set so that they keep their columns."""
        plain = "\n".join(self.lines(limit))
        cells = self._cells(limit)
        tabular = "\n".join([_markdown(cells), *(f"\n{more}" for more in self._more(cells))])
        return RichText(f"```text\n{plain}\n```", plain, tabular)

    def text_fitting(self, other_lines: int) -> RichText:
        """As much as there is room for in a hover that says ``taken`` other lines."""
        return self.text(max(MAX_LINES - other_lines, _MIN_LINES))

    @property
    def markdown(self) -> str:
        """All rows, as Markdown has tables."""
        return _markdown(self._cells(None))

    def _cells(self, limit: int | None) -> list[list[str]]:
        """What is shown in so many lines, the heading first."""
        shown = self.rows if limit is None or len(self.rows) < limit else self.rows[: limit - 2]
        kept = [index for index in range(len(self.heading)) if any(row[index] for row in self.rows)]
        return [[row[index] for index in kept] for row in (self.heading, *shown)]

    def _more(self, cells: Sequence[Sequence[str]]) -> list[str]:
        missing = len(self.rows) + 1 - len(cells)
        return [f"… {missing} more"] if missing else []


def table_lines(heading: Sequence[str], rows: Sequence[Sequence[str]], limit: int | None = MAX_LINES) -> list[str]:
    """As :meth:`Table.lines`."""
    return TextTable(tuple(heading), tuple(map(tuple, rows))).lines(limit)


def _markdown(cells: Sequence[Sequence[str]]) -> str:
    lines = [[words(cell).markdown for cell in row] for row in cells]
    lines.insert(1, ["---"] * len(lines[0]))
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_MAX_TITLE = 48


def distinguishing(titles: Sequence[str]) -> list[str]:
    """For ``Conv2d(3, 8, kernel_size=(3, 3))`` beside ``Conv2d(8, 8, kernel_size=(3, 3))``: ``3`` and ``8``.

    Titles of several classes, or with different numbers of arguments, are shortened at their end.
    """
    split = [_split(title) for title in titles]
    heads = {head for head, _ in split}
    counts = {len(arguments) for _, arguments in split}
    if len(heads) > 1 or len(counts) > 1:
        return [_shortened(title) for title in titles]
    columns = [column for column in zip(*(arguments for _, arguments in split), strict=True) if len(set(column)) > 1]
    return [_shortened(", ".join(row)) for row in zip(*columns, strict=True)] if columns else ["" for _ in titles]


def _split(title: str) -> tuple[str, list[str]]:
    """The name before the parenthesis and the arguments in it; commas inside nested brackets do not part."""
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
