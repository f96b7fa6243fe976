"""Synchronization of notebooks: each is one document, however its cells change."""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from fxlsp.server.shared.server import Server
from fxlsp.server.sync.text import edits_of
from fxlsp.source.text.documents import Document, path_of_uri
from fxlsp.source.text.notebooks.cells import Cell, Cells
from fxlsp.source.text.positions import Encoding


def register(server: Server) -> None:
    @server.feature(types.NOTEBOOK_DOCUMENT_DID_OPEN)
    def did_open(params: types.DidOpenNotebookDocumentParams) -> None:
        notebook = params.notebook_document
        _close_stray_cells(server, params.cell_text_documents)
        cells = Cells(_cells(notebook.cells, params.cell_text_documents))
        server.engine.open(Document.from_cells(notebook.uri, path_of_uri(notebook.uri), notebook.version, cells))

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CHANGE)
    def did_change(params: types.DidChangeNotebookDocumentParams) -> None:
        document = server.engine.snapshot.documents.get(path_of_uri(params.notebook_document.uri))
        if document is None or document.cells is None or params.change.cells is None:
            return
        change = params.change.cells
        if change.structure is not None:
            _close_stray_cells(server, change.structure.did_open or ())
        cells = changed(document.cells, change, server.encoding)
        server.engine.update(*document.with_cells(cells, params.notebook_document.version))

    @server.feature(types.NOTEBOOK_DOCUMENT_DID_CLOSE)
    def did_close(params: types.DidCloseNotebookDocumentParams) -> None:
        path = path_of_uri(params.notebook_document.uri)
        if path in server.engine.snapshot.documents:
            server.engine.close(path)


def changed(cells: Cells, change: types.NotebookDocumentCellChanges, encoding: Encoding) -> Cells:
    """Return the cells after one notification.

    It is applied in order: first which cells there are, then their kinds, then their texts.
    """
    if change.structure is not None:
        cells = _restructured(cells, change.structure)
    kinds = {cell.document: _is_code(cell) for cell in change.data or ()}
    cells = cells.replaced(extent.cell.of_kind(kinds[uri]) for uri, extent in cells.by_uri.items() if uri in kinds)
    for each in change.text_content or ():
        extent = cells.by_uri.get(each.document.uri)
        if extent is not None:
            text = extent.cell.text
            for edit in edits_of(extent.cell.lines, each.changes, encoding):
                text = edit.apply(text)
            cells = cells.replaced([extent.cell.changed(text, each.document.version)])
    return cells


def _restructured(cells: Cells, structure: types.NotebookDocumentCellChangeStructure) -> Cells:
    """Return the cells after some were inserted, removed or moved.

    A moved cell is removed and inserted, in one message or in two, and has no text in the message while it is open.
    """
    array = structure.array
    known = {uri: extent.cell for uri, extent in cells.by_uri.items()}
    inserted = _cells(array.cells or (), structure.did_open or (), known)
    return cells.spliced(array.start, array.delete_count, inserted)


def _cells(
    cells: Iterable[types.NotebookCell], items: Iterable[types.TextDocumentItem], known: dict[str, Cell] | None = None
) -> list[Cell]:
    texts = {item.uri: item for item in items}
    made: list[Cell] = []
    for cell in cells:
        item = texts.get(cell.document)
        if item is not None:
            made.append(Cell(item.uri, item.version, item.text, item.language_id == "python", _is_code(cell)))
        else:
            unknown = Cell(cell.document, None, "", is_python=False)
            made.append((known or {}).get(cell.document, unknown).of_kind(_is_code(cell)))
    return made


def _is_code(cell: types.NotebookCell) -> bool:
    return cell.kind is types.NotebookCellKind.Code


def _close_stray_cells(server: Server, items: Iterable[types.TextDocumentItem]) -> None:
    """Close cells that were opened as files.

    Some editors open a cell as a text document before they report which notebook contains it.
    """
    for item in items:
        path = path_of_uri(item.uri)
        if path in server.engine.snapshot.documents:
            server.engine.close(path)
