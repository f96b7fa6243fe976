"""Documents as the editor opens, changes and closes them. What saving means is in ``diagnostics``."""

from __future__ import annotations

from collections.abc import Iterable

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
            edits = tuple(_edits(document.text, params.content_changes, server.encoding))
            server.engine.change(document.path, edits, params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        _, document = server.open_document(params.text_document.uri)
        if document is not None:
            server.engine.close(document.path)


def _edits(
    text: str, changes: Iterable[types.TextDocumentContentChangeEvent], encoding: Encoding
) -> Iterable[TextEdit]:
    """The changes as edits; each counts in the text that the one before it left."""
    for change in changes:
        if isinstance(change, types.TextDocumentContentChangeWholeDocument):
            yield from edits_between(text, change.text)
            text = change.text
        else:
            start, end = _offsets(LineIndex(text), change.range, encoding)
            # Some editors replace whole lines: what is the same in them is not touched.
            for edit in edits_between(text[start:end], change.text):
                yield TextEdit(start + edit.start_offset, start + edit.old_end_offset, edit.new_text)
            text = text[:start] + change.text + text[end:]


def _offsets(lines: LineIndex, span: types.Range, encoding: Encoding) -> tuple[int, int]:
    return (
        lines.offset(*lines.from_lsp(span.start.line, span.start.character, encoding)),
        lines.offset(*lines.from_lsp(span.end.line, span.end.character, encoding)),
    )
