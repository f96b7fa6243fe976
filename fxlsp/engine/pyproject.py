"""The table ``[tool.fxlsp]`` of a project, and where in the file its keys stand."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fxlsp.report.places import Location

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib


@dataclass(frozen=True, slots=True)
class Pyproject:
    """``[tool.fxlsp]`` of one file; empty where there is none."""

    path: str
    """Absolute, "" if there is no file."""
    table: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    """Why the file cannot be read."""
    error_at: Location | None = None
    text: str = ""

    @property
    def folder(self) -> str:
        return str(Path(self.path).parent) if self.path else ""

    def place_of(self, *keys: str) -> Location | None:
        """The line on which the innermost of nested ``keys`` is written, the table's own where it cannot be told."""
        if not self.path:
            return None
        header = r"^\s*\[\s*tool\s*\.\s*fxlsp\b"
        innermost = rf"""^\s*\[?[^=#]*?["']?{re.escape(keys[-1])}["']?\s*[=\].]""" if keys else header
        lines = self.text.split("\n")
        start = next((index for index, line in enumerate(lines) if re.search(header, line)), 0)
        for index in range(start, len(lines)):
            if re.search(innermost, lines[index]):
                return self._line(index, lines[index])
        return self._line(start, lines[start])

    def _line(self, index: int, line: str) -> Location:
        begin = len(line) - len(line.lstrip()) + 1
        return Location(self.path, index + 1, begin, index + 1, max(begin, len(line.rstrip()) + 1))


def read_pyproject(folder: str) -> Pyproject:
    """The table of the ``pyproject.toml`` in ``folder``, else of the nearest folder above that has such a file.

    The folder "" has none.
    """
    if not folder:
        return Pyproject("")
    start = Path(folder)
    found = next((place for parent in (start, *start.parents) if (place := parent / "pyproject.toml").is_file()), None)
    if found is None:
        return Pyproject("")
    try:
        text = found.read_text(encoding="utf-8")
        tool = tomllib.loads(text).get("tool", {})
    except (OSError, UnicodeDecodeError) as error:
        return Pyproject(str(found), error=f"{found} cannot be read: {error}")
    except tomllib.TOMLDecodeError as error:
        return Pyproject(str(found), error=f"{found} is not TOML: {error}", error_at=_place(str(found), str(error)))
    table = tool.get("fxlsp", {}) if isinstance(tool, dict) else {}
    if not isinstance(table, dict):
        return Pyproject(str(found), error="'tool.fxlsp' is not a table", text=text)
    return Pyproject(str(found), table, text=text)


def _place(path: str, message: str) -> Location | None:
    """The place that a message of tomllib names in words: it has no attribute for it before Python 3.14."""
    match = re.search(r"at line (\d+), column (\d+)", message)
    if match is None:
        return None
    line, column = int(match[1]), int(match[2])
    return Location(path, line, column, line, column + 1)
