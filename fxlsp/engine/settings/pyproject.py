"""The table ``[tool.fxlsp]`` of a ``pyproject.toml``, with locations of its keys."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

from fxlsp.engine.settings.toml_spans import TomlEntry, toml_entries
from fxlsp.report.locations import Location
from fxlsp.source.text.positions import LineIndex

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True, eq=False)
class Pyproject:
    """``[tool.fxlsp]`` of one file as it was read; empty if there is none."""

    path: str
    """Absolute path; "" if there is no file."""
    table: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    """Why the file cannot be read."""
    error_at: Location | None = None
    text: str = ""

    @property
    def folder(self) -> str:
        return str(Path(self.path).parent) if self.path else ""

    def location_of(self, *keys: str) -> Location | None:
        """Return the location of the value of nested ``keys``.

        If they are missing, that of the innermost table which exists; None if there is no file.
        """
        return self._place("value", keys)

    def location_of_key(self, *keys: str) -> Location | None:
        """Return the location of the innermost of nested ``keys``, as in ``location_of``."""
        return self._place("key", keys)

    def locations_of_strings(self, *keys: str) -> tuple[Location, ...]:
        """Return the location of each string in the value of nested ``keys``.

        The locations do not include the quotes.
        """
        entry = self._entry(keys)
        return () if entry is None else tuple(self._at(*place) for place in entry.strings)

    def _place(self, part: Literal["key", "value"], keys: tuple[str, ...]) -> Location | None:
        entry = next((found for end in range(len(keys), -1, -1) if (found := self._entry(keys[:end]))), None)
        if entry is None:
            return self._at(0, 0) if self.path else None
        return self._at(*(entry.value if part == "value" else entry.key))

    def _entry(self, keys: tuple[str, ...]) -> TomlEntry | None:
        wanted = ("tool", "fxlsp", *keys)
        exact = (entry for entry in self._entries if entry.keys == wanted)
        return next(exact, None) or next(
            (entry for entry in self._entries if entry.keys[: len(wanted)] == wanted), None
        )

    def _at(self, start: int, end: int) -> Location:
        span = self._lines.span(start, end)
        return Location(self.path, span.line, span.column, span.end_line, span.end_column)

    @cached_property
    def _entries(self) -> list[TomlEntry]:
        return toml_entries(self.text)

    @cached_property
    def _lines(self) -> LineIndex:
        return LineIndex(self.text)


def read_pyproject(folder: str) -> Pyproject:
    """Return the table of the nearest ``pyproject.toml``.

    Args:
        folder: absolute path; the file is in it or in a folder above it. "" has no file.
    """
    if not folder:
        return Pyproject("")
    start = Path(folder)
    found = next((place for parent in (start, *start.parents) if (place := parent / "pyproject.toml").is_file()), None)
    if found is None:
        return Pyproject("")
    path = str(found)
    try:
        text = found.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        return Pyproject(path, error=f"{found} cannot be read: {error}")
    try:
        tool = tomllib.loads(text).get("tool", {})
    except tomllib.TOMLDecodeError as error:
        return Pyproject(
            path, error=f"{found} is not TOML: {error}", error_at=_place(path, str(error), text), text=text
        )
    table = tool.get("fxlsp", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        wrong = Pyproject(path, error="'tool.fxlsp' is not a table", text=text)
        return replace(wrong, error_at=wrong.location_of())
    return Pyproject(path, table, text=text)


def _place(path: str, message: str, text: str) -> Location:
    """Return the location that a message of tomllib names, else the end of the text.

    Before Python 3.14 the error has no attribute for it.
    """
    match = re.search(r"at line (\d+), column (\d+)", message)
    last = LineIndex(text).place(len(text))
    line, column = (int(match[1]), int(match[2])) if match is not None else last
    return Location(path, line, column, line, column + 1)
