"""Documents as the editor opens, changes and closes them. What saving means is in ``diagnostics``."""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from fxlsp.server.server import Server
from fxlsp.source.differences import edits_between
from fxlsp.source.documents import Document, TextEdit, path_of_uri
from fxlsp.source.positions import Encoding, LineIndex


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        if item.language_id != "python":
            return
        server.engine.open(Document(item.uri, path_of_uri(item.uri), item.version, item.text))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        _, document = server.open_document(params.text_document.uri)
        if document is not None:
            edits = edits_of(document.lines, params.content_changes, server.encoding)
            server.engine.change(document.path, edits, params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        _, document = server.open_document(params.text_document.uri)
        if document is not None:
            server.engine.close(document.path)


def edits_of(
    lines: LineIndex, changes: Sequence[types.TextDocumentContentChangeEvent], encoding: Encoding
) -> tuple[TextEdit, ...]:
    """The changes of one message as edits; each counts in the text that the one before it left."""
    edits: list[TextEdit] = []
    for change in changes:
        start, end = 0, len(lines.text)
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = _offsets(lines, change.range, encoding)
        # Some editors replace whole lines, or everything: what is the same in them is not touched.
        edits += (
            TextEdit(start + edit.start_offset, start + edit.old_end_offset, edit.new_text)
            for edit in edits_between(lines.text[start:end], change.text)
        )
        if len(changes) > 1:
            lines = LineIndex(lines.text[:start] + change.text + lines.text[end:])
    return tuple(edits)


def _offsets(lines: LineIndex, span: types.Range, encoding: Encoding) -> tuple[int, int]:
    start = lines.offset(*lines.from_lsp(span.start.line, span.start.character, encoding))
    end = lines.offset(*lines.from_lsp(span.end.line, span.end.character, encoding))
    return min(start, end), max(start, end)
