"""Where something stands in a source file.

Coordinates here are those of the public JSON: lines and columns count from 1, columns count Unicode code points, and
the end is exclusive. ``fxlsp.source.text.positions`` converts them to the coordinates of an editor.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .serialization import INLINE, JsonObject


@dataclass(frozen=True, slots=True)
class Location(JsonObject):
    """An expression of a source file (contract: ``LOCATION``); ``file`` is absolute."""

    file: str
    line: int
    column: int
    end_line: int
    end_column: int
    function: str | None = None
    """Name of the function whose body holds the expression, ``<module>`` at top level, None where unknown."""
    cell: int | None = None
    """Number of the notebook's cell, from 1 and among all of its cells; lines then count in it. None outside notebooks,
    and where lines count in the text of all cells."""


@dataclass(frozen=True, slots=True)
class Step(JsonObject):
    """One calling expression on the way from the root ``forward`` to an operation."""

    location: Location = field(metadata=INLINE)
    module_path: str | None
    """Path of the module whose ``forward`` (or a helper it called) holds the expression."""


@dataclass(frozen=True, slots=True)
class RelatedPlace(JsonObject):
    """A second place that helps to understand a problem."""

    message: str
    location: Location
