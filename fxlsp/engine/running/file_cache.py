"""Cache of the texts of closed files, valid until a file changes."""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from typing import NamedTuple

from fxlsp.engine.index.skip_cache import FileState
from fxlsp.source.recipes.markdown_blocks import file_of, read_source
from fxlsp.source.text.documents import Document

_MOST_TEXTS = 64
"""Limit of cached texts: each has its syntax tree in memory."""


class _CachedFile(NamedTuple):
    state: FileState
    is_settled: bool
    """Whether the state tells the file from what it may become later."""
    document: Document | None


class FileCache:
    """Cache of documents on disk, safe for use by several threads."""

    def __init__(self) -> None:
        self._cached: OrderedDict[str, _CachedFile] = OrderedDict()
        self._lock = threading.Lock()

    def read(self, path: str) -> Document | None:
        """Return the document of a file as it is on disk; None if it cannot be read."""
        try:
            state = FileState.of(os.stat(file_of(path)))
        except OSError:
            return None
        with self._lock:
            cached = self._cached.get(path)
        if cached is None or not cached.is_settled or cached.state != state:
            cached = _CachedFile(state, state.is_settled, _unless_equal(cached, _read(path)))
        with self._lock:
            self._cached[path] = cached
            self._cached.move_to_end(path)
            while len(self._cached) > _MOST_TEXTS:
                self._cached.popitem(last=False)
        return cached.document


def _unless_equal(cached: _CachedFile | None, document: Document | None) -> Document | None:
    """Return a document, or the cached one if that has the same text: its syntax tree is made already."""
    known = None if cached is None else cached.document
    return known if known == document else document


def _read(path: str) -> Document | None:
    try:
        return read_source(path)
    except (OSError, UnicodeDecodeError, SyntaxError):
        return None
