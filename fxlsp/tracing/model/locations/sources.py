"""Texts of the files that this process runs: unsaved buffers first, then disk."""

from __future__ import annotations

import linecache
import os
import re
import tokenize
from collections.abc import Mapping

_LINE_BREAK = re.compile(r"\r\n|\r|\n")


class Sources:
    """Source texts by real path."""

    def __init__(self, overlays: Mapping[str, str]) -> None:
        """``overlays`` maps real paths to the texts of unsaved buffers."""
        self._overlays: dict[str, str] = {}
        self._texts: dict[str, str | None] = {}
        self._lines: dict[str, list[str]] = {}
        self.replace_overlays(overlays)

    def replace_overlays(self, overlays: Mapping[str, str]) -> None:
        """Replace the unsaved buffers, and drop all texts read from disk."""
        for path in self._overlays:
            linecache.cache.pop(path, None)
        self._overlays = dict(overlays)
        self._texts.clear()
        self._lines.clear()
        for path, text in overlays.items():
            # Tracebacks, inspect.getsource and torch read source through linecache, which reads the disk.
            linecache.cache[path] = (len(text), None, text.splitlines(keepends=True), path)

    def is_overlay(self, path: str) -> bool:
        """Return whether ``path`` is read from an unsaved buffer."""
        return path in self._overlays

    def text(self, path: str) -> str | None:
        """Return the text of a file; None if it is not readable as Python text."""
        if path in self._overlays:
            return self._overlays[path]
        if path not in self._texts:
            self._texts[path] = _read(path)
        return self._texts[path]

    def lines(self, path: str) -> list[str]:
        """Return the lines of a file without line ends, split as Python does.

        The list is empty if there is no text.
        """
        if path not in self._lines:
            text = self.text(path)
            self._lines[path] = [] if text is None else _LINE_BREAK.split(text.removeprefix("\ufeff"))
        return self._lines[path]

    def code_points(self, path: str, line: int, byte_column: int) -> int:
        """Return the column in code points, from 1, of a column in UTF-8 bytes, from 0."""
        lines = self.lines(path)
        if not 0 < line <= len(lines):
            return byte_column + 1
        text = lines[line - 1]
        if text.isascii():
            return byte_column + 1
        return len(text.encode("utf-8", "surrogatepass")[:byte_column].decode("utf-8", "ignore")) + 1


def _read(path: str) -> str | None:
    if not os.path.isfile(path):
        return None
    try:
        # Python's own rules: encoding cookie, byte order mark. Without newline translation, columns remain right.
        with open(path, "rb") as binary:
            encoding, _ = tokenize.detect_encoding(binary.readline)
        with open(path, encoding=encoding, newline="") as text:
            return text.read()
    except (OSError, SyntaxError, UnicodeDecodeError, LookupError):
        return None
