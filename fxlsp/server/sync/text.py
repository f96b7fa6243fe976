"""Synchronization of text documents: ``didOpen``, ``didChange`` and ``didClose``.

``didSave`` is handled in :mod:`fxlsp.server.publish.diagnostics`.
"""

from __future__ import annotations

from collections.abc import Sequence

from lsprotocol import types

from fxlsp.server.shared.server import Server
from fxlsp.source.text.diff import edits_between
from fxlsp.source.text.documents import Document, TextEdit, path_of_uri
from fxlsp.source.text.positions import Encoding, LineIndex


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenTextDocumentParams) -> None:
        item = params.text_document
        # A cell is opened with its notebook.
        if item.language_id != "python" or server.path_of(item.uri) != path_of_uri(item.uri):
            return
        if _open_file(server, item.uri) is not None:
            # Another page of the editor opens it again, without knowing what the first page has opened.
            server.engine.close(path_of_uri(item.uri))
        server.engine.open(Document(item.uri, path_of_uri(item.uri), item.version, item.text))

    @server.feature(types.TEXT_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeTextDocumentParams) -> None:
        document = _open_file(server, params.text_document.uri)
        if document is not None:
            edits = edits_of(document.lines, params.content_changes, server.encoding)
            server.engine.change(document.path, edits, params.text_document.version)

    @server.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseTextDocumentParams) -> None:
        document = _open_file(server, params.text_document.uri)
        if document is not None:
            server.engine.close(document.path)


def _open_file(server: Server, uri: str) -> Document | None:
    """Return the document of an open file.

    None for a cell, which is synchronized with its notebook.
    """
    _, text_document = server.find_text_document(uri)
    return None if text_document is None or text_document.document.cells is not None else text_document.document


def edits_of(
    lines: LineIndex, changes: Sequence[types.TextDocumentContentChangeEvent], encoding: Encoding
) -> tuple[TextEdit, ...]:
    """Return the changes of one message as edits.

    The offsets of each refer to the text that the one before it left.
    """
    edits: list[TextEdit] = []
    for change in changes:
        start, end = 0, len(lines.text)
        if isinstance(change, types.TextDocumentContentChangePartial):
            start, end = _offsets(lines, change.range, encoding)
        # Some editors replace whole lines, or everything: unchanged parts are not edited.
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
