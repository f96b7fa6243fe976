"""Locations in files that need not be open, as LSP objects."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from lsprotocol import types

from fxlsp.engine.running.file_cache import FileCache
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.trace_view.in_trace import NavigationTarget
from fxlsp.server.shared.text_documents import TextDocument, text_document_at
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Encoding, Span


class TargetLocations:
    """Locations of targets in the texts of a snapshot, and in files read from disk."""

    def __init__(self, snapshot: Snapshot, read: Mapping[str, Document], encoding: Encoding) -> None:
        """Use :func:`load_target_locations`."""
        self._snapshot = snapshot
        self._read = read
        self._encoding = encoding

    def document(self, path: str) -> Document | None:
        """Return the text of a file; None if it cannot be read."""
        return self._snapshot.documents.get(path) or self._read.get(path)

    def location(self, target: NavigationTarget) -> types.Location | None:
        """Return what to select of a target.

        None if its file is not the text that was traced.
        """
        document = self.document(target.path)
        if document is None or not target.is_in(document):
            return None
        return self._text_document(document, target.span).location(target.span)

    def extent(self, target: NavigationTarget) -> types.Range | None:
        """Return the range of the statement around a target."""
        document = self.document(target.path)
        return None if document is None else self._text_document(document, target.span).range(target.extent)

    def ranges(self, path: str, spans: Iterable[Span], uri: str) -> list[types.Range]:
        """Return the ranges of those spans of a file that are in one text document."""
        document = self.document(path)
        if document is None:
            return []
        found = ((self._text_document(document, span), span) for span in spans)
        return [text_document.range(span) for text_document, span in found if text_document.uri == uri]

    def _text_document(self, document: Document, span: Span) -> TextDocument:
        return text_document_at(document, span.line, self._encoding)


async def load_target_locations(
    snapshot: Snapshot, disk: FileCache, paths: Iterable[str], encoding: Encoding
) -> TargetLocations:
    """Return the locations in these files.

    Files that are not open are read on a thread, not on the loop.
    """
    closed = sorted(set(paths) - snapshot.documents.keys())
    read = await asyncio.to_thread(_read, disk, closed) if closed else {}
    return TargetLocations(snapshot, read, encoding)


def _read(disk: FileCache, paths: Iterable[str]) -> dict[str, Document]:
    found = {path: disk.read(path) for path in paths}
    return {path: document for path, document in found.items() if document is not None}
