"""Texts of files that are not open, kept as long as the files stay as they are."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import NamedTuple

from fxlsp.source.recipes.markdown_blocks import file_of, read_source
from fxlsp.source.text.documents import Document

_MOST_TEXTS = 64
"""Each is kept with its tree."""


class _CachedFile(NamedTuple):
    modified: int
    size: int
    document: Document | None


class FileCache:
    """May be used by several threads."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, _CachedFile] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, path: str) -> Document | None:
        """The file as it stands on disk; None if it cannot be read."""
        try:
            status = os.stat(file_of(path))
        except OSError:
            return None
        with self._lock:
            kept = self._kept.get(path)
        if kept is None or (kept.modified, kept.size) != (status.st_mtime_ns, status.st_size):
            kept = _CachedFile(status.st_mtime_ns, status.st_size, _read(path))
        with self._lock:
            self._kept[path] = kept
            self._kept.move_to_end(path)
            while len(self._kept) > _MOST_TEXTS:
                self._kept.popitem(last=False)
        return kept.document


def _read(path: str) -> Document | None:
    try:
        return read_source(path)
    except (OSError, UnicodeDecodeError, SyntaxError):
        return None
