"""Positions of expressions in source files.

Coordinates here are those of the public JSON: lines and columns count from 1, columns count Unicode code points, and
the end is exclusive. ``fxlsp.source.text.positions`` converts them to the coordinates of an editor.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .serialization import INLINE, JsonObject


@dataclass(frozen=True, slots=True)
class Location(JsonObject):
    """Range of an expression in a source file, whose path is absolute.

    Contract: ``LOCATION``.
    """

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str | None = None
    """Name of the function whose body holds the expression, ``<module>`` at top level, None if unknown."""
    cell: int | None = None
    """Number of the notebook cell, from 1 and among all cells of the notebook; lines then count within the cell. None
    outside notebooks, and if lines count in the text of all cells."""


@dataclass(frozen=True, slots=True)
class Step(JsonObject):
    """Calling expression between the root ``forward`` and an operation."""

    location: Location = field(metadata=INLINE)
    module_path: str | None
    """Path of the module whose ``forward`` (or a helper it called) holds the expression."""


@dataclass(frozen=True, slots=True)
class RelatedPlace(JsonObject):
    """Additional location that explains a problem."""

    message: str
    location: Location
