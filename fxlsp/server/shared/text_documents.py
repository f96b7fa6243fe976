"""LSP's text documents: a file, or one cell of a notebook.

All other modules handle documents only. Here, and nowhere else, a URI and a position of the editor become a document
and a place in its text, and the other way round.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lsprotocol import types

from fxlsp.source.text.documents import Document
from fxlsp.source.text.notebooks.cells import Extent
from fxlsp.source.text.positions import Encoding, LineIndex, Span


@dataclass(frozen=True, slots=True)
class TextDocument:
    """A document, or the part of it that is one cell."""

    document: Document
    uri: str
    """As the editor wrote it."""
    version: int | None
    encoding: Encoding
    first_line: int
    """First line of the document's text that belongs to it, from 1."""
    last_line: int
    _lines: LineIndex
    """Lines of its own text."""

    @property
    def path(self) -> str:
        return self.document.path

    def shows(self, line: int) -> bool:
        """Return whether it contains a line of the document."""
        return self.first_line <= line <= self.last_line

    def place(self, position: types.Position) -> tuple[int, int]:
        """Return the place (line, column) of a position in the document."""
        line, column = self._lines.from_lsp(position.line, position.character, self.encoding)
        return line + self.first_line - 1, column

    def span(self, covered: types.Range) -> Span:
        """Return the span of a range in the document."""
        return Span(*self.place(covered.start), *self.place(covered.end))

    def position(self, line: int, column: int) -> types.Position:
        """Return the editor's position of a place of the document."""
        return types.Position(*self._lines.to_lsp(line - self.first_line + 1, column, self.encoding))

    def range(self, span: Span) -> types.Range:
        return types.Range(self.position(span.line, span.column), self.position(span.end_line, span.end_column))

    def location(self, span: Span) -> types.Location:
        return types.Location(self.uri, self.range(span))


def text_documents_of(document: Document, encoding: Encoding) -> list[TextDocument]:
    """Return the text documents of a document, in the order of its text."""
    if document.cells is None:
        return [_of_file(document, encoding)]
    return [_of_cell(document, extent, encoding) for extent in document.cells.extents]


def text_document_by_uri(documents: Iterable[Document], uri: str, encoding: Encoding) -> TextDocument | None:
    """Return the cell with this URI in one of these notebooks; None if there is none."""
    for document in documents:
        extent = None if document.cells is None else document.cells.by_uri.get(uri)
        if extent is not None:
            return _of_cell(document, extent, encoding)
    return None


def text_document_at(document: Document, line: int, encoding: Encoding) -> TextDocument:
    """Return the text document that contains a line of a document."""
    extent = None if document.cells is None else document.cells.at(line)
    return _of_file(document, encoding) if extent is None else _of_cell(document, extent, encoding)


def _of_file(document: Document, encoding: Encoding) -> TextDocument:
    lines = document.lines
    return TextDocument(document, document.uri, document.version, encoding, 1, lines.line_count, lines)


def _of_cell(document: Document, extent: Extent, encoding: Encoding) -> TextDocument:
    cell = extent.cell
    # In a file that is not open, cells have no URI.
    uri = cell.uri or document.uri
    return TextDocument(document, uri, cell.version, encoding, extent.first_line, extent.last_line, cell.lines)
