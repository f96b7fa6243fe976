"""Places in files that need not be open, for the editor."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping

from lsprotocol import types

from fxlsp.engine.session.file_cache import DiskTexts
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.trace_view.targets import NavigationTarget
from fxlsp.server.session.text_documents import Sheet, sheet_at
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Encoding, Span


class Texts:
    """The texts that places stand in: those of a snapshot, and files read from disk."""

    def __init__(self, snapshot: Snapshot, read: Mapping[str, Document], encoding: Encoding) -> None:
        """Use :func:`read_texts`."""
        self._snapshot = snapshot
        self._read = read
        self._encoding = encoding

    def of(self, path: str) -> Document | None:
        """None for a file that cannot be read."""
        return self._snapshot.documents.get(path) or self._read.get(path)

    def location(self, target: NavigationTarget) -> types.Location | None:
        """Where to select what a target names; None if its file is not the text that was traced."""
        document = self.of(target.path)
        if document is None or not target.is_in(document):
            return None
        return self._sheet(document, target.span).location(target.span)

    def extent(self, target: NavigationTarget) -> types.Range | None:
        """The statement around the place of a target."""
        document = self.of(target.path)
        return None if document is None else self._sheet(document, target.span).range(target.extent)

    def ranges(self, path: str, spans: Iterable[Span], uri: str) -> list[types.Range]:
        """Those of the spans of a file that the editor shows in the file or cell that it calls ``uri``."""
        document = self.of(path)
        if document is None:
            return []
        found = ((self._sheet(document, span), span) for span in spans)
        return [sheet.range(span) for sheet, span in found if sheet.uri == uri]

    def _sheet(self, document: Document, span: Span) -> Sheet:
        return sheet_at(document, span.line, self._encoding)


async def read_texts(snapshot: Snapshot, disk: DiskTexts, paths: Iterable[str], encoding: Encoding) -> Texts:
    """The texts of all these files. Those that are not open are read beside the loop."""
    closed = sorted(set(paths) - snapshot.documents.keys())
    read = await asyncio.to_thread(_read, disk, closed) if closed else {}
    return Texts(snapshot, read, encoding)


def _read(disk: DiskTexts, paths: Iterable[str]) -> dict[str, Document]:
    found = {path: disk.read(path) for path in paths}
    return {path: document for path, document in found.items() if document is not None}
