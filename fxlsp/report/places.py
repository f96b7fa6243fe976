"""Where something stands in a source file.

Coordinates here are those of the public JSON: lines and columns count from 1, columns count Unicode code points, and
the end is exclusive. ``fxlsp.source.positions`` converts them to the coordinates of an editor.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Location:
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

    def to_json(self) -> dict[str, Any]:
        # Not dataclasses.asdict, which copies deeply: a report holds thousands of these.
        return {
            "file": self.file,
            "line": self.line,
            "column": self.column,
            "end_line": self.end_line,
            "end_column": self.end_column,
            "function": self.function,
            "cell": self.cell,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Location:
        return cls(
            data["file"],
            data["line"],
            data["column"],
            data["end_line"],
            data["end_column"],
            data.get("function"),
            data.get("cell"),
        )


@dataclass(frozen=True, slots=True)
class Step:
    """One calling expression on the way from the root ``forward`` to an operation."""

    location: Location
    module_path: str | None
    """Path of the module whose ``forward`` (or a helper it called) holds the expression."""

    def to_json(self) -> dict[str, Any]:
        return {**self.location.to_json(), "module_path": self.module_path}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Step:
        return cls(Location.from_json(data), data["module_path"])


@dataclass(frozen=True, slots=True)
class RelatedPlace:
    """A second place that helps to understand a problem."""

    message: str
    location: Location

    def to_json(self) -> dict[str, Any]:
        return {"message": self.message, "location": self.location.to_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> RelatedPlace:
        return cls(data["message"], Location.from_json(data["location"]))


def location_or_none(data: dict[str, Any] | None) -> Location | None:
    """The location that ``data`` holds, if it holds one."""
    return None if data is None else Location.from_json(data)
