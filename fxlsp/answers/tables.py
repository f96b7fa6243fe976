"""Tables: as aligned text for terminals, plain text and code blocks, or in the markup of those who render it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LINES = 12
"""The most lines of a hover: what is longer hides the code."""
_FEWEST = 4
"""Lines of a table whatever else is said: heading, two rows and how many are missing."""


def lines_left(taken: int) -> int:
    """The lines of a table in a hover that says ``taken`` other lines."""
    return max(LINES - taken, _FEWEST)


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
    kept = [index for index in range(len(heading)) if any(row[index] for row in rows)]
    return Table([[row[index] for index in kept] for row in (heading, *shown)], len(rows) - len(shown))


def table_lines(heading: Sequence[str], rows: Sequence[Sequence[str]], limit: int | None = LINES) -> list[str]:
    """As :func:`table`, as aligned text."""
    return table(heading, rows, limit).lines
