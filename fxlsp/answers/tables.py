"""Tables: as aligned text for terminals, plain text and code blocks, or in the markup of those who render it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from fxlsp.answers.richtext import words

LINES = 12
"""The most lines of a hover: what is longer hides the code."""
_FEWEST = 4
"""Lines of a table whatever else is said: heading, two rows and how many are missing."""


@dataclass(frozen=True, slots=True)
class Table:
    """What a table says, before it is known how much of it is shown."""

    heading: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def lines(self, limit: int | None = LINES) -> list[str]:
        """As :func:`table_lines`."""
        return table_lines(self.heading, self.rows, limit)

    def lines_beside(self, taken: int) -> list[str]:
        """As many as there is room for in a hover that says ``taken`` other lines."""
        return self.lines(max(LINES - taken, _FEWEST))

    @property
    def markdown(self) -> str:
        """All rows, as Markdown has tables; without the columns that are empty in every row."""
        kept = _filled_columns(self.rows)
        lines = [[words(row[index]).markdown for index in kept] for row in (self.heading, *self.rows)]
        lines.insert(1, ["---"] * len(kept))
        return "\n".join(f"| {' | '.join(line)} |" for line in lines)


@dataclass(frozen=True, slots=True)
class Table:
    """Cells, the heading first."""

    cells: Sequence[Sequence[str]]
    missing: int = 0
    """Rows that were left out."""

    @property
    def lines(self) -> list[str]:
        """Columns aligned; the last line says how many rows are missing."""
        widths = [max(map(len, column)) for column in zip(*self.cells, strict=True)]
        padded = ([cell.ljust(width) for cell, width in zip(row, widths, strict=True)] for row in self.cells)
        lines = ["  ".join(row).rstrip() for row in padded]
        return [*lines, f"… {self.missing} more"] if self.missing else lines


def table(heading: Sequence[str], rows: Sequence[Sequence[str]], limit: int | None = LINES) -> Table:
    """The heading and the rows; columns that are empty in every row are left out.

    Of more than ``limit`` lines, the last says how many rows are missing. Rows are never cut.
    """
    shown = list(rows) if limit is None or len(rows) < limit else list(rows[: limit - 2])
    kept = _filled_columns(rows)
    cells = [[row[index] for index in kept] for row in (heading, *shown)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(kept))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    if len(shown) < len(rows):
        lines.append(f"… {len(rows) - len(shown)} more")
    return lines


def _filled_columns(rows: Sequence[Sequence[str]]) -> list[int]:
    """The columns that say something in some row."""
    return [index for index in range(max(map(len, rows), default=0)) if any(row[index] for row in rows)]
