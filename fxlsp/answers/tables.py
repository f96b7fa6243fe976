"""Tables of aligned text, the same in a markdown code block, in plain text and in a terminal."""

from __future__ import annotations

from collections.abc import Sequence

LINES = 12
"""The most lines of a hover: what is longer hides the code."""
_FEWEST = 4
"""Lines of a table whatever else is said: heading, two rows and how many are missing."""


def lines_left(taken: int) -> int:
    """The lines of a table in a hover that says ``taken`` other lines."""
    return max(LINES - taken, _FEWEST)


def table_lines(heading: Sequence[str], rows: Sequence[Sequence[str]], limit: int | None = LINES) -> list[str]:
    """The heading and the rows, columns aligned; columns that are empty in every row are left out.

    Of more than ``limit`` lines, the last says how many rows are missing. Rows are never cut.
    """
    shown = list(rows) if limit is None or len(rows) < limit else list(rows[: limit - 2])
    kept = [index for index in range(len(heading)) if any(row[index] for row in rows)]
    cells = [[row[index] for index in kept] for row in (heading, *shown)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(kept))]
    lines = ["  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in cells]
    if len(shown) < len(rows):
        lines.append(f"… {len(rows) - len(shown)} more")
    return lines
