"""``textDocument/documentSymbol``: from syntax alone, so it is there before anything is trusted or traced."""

from __future__ import annotations

from lsprotocol import types

from fxlsp.answers.symbols import Symbol, symbols
from fxlsp.server.ranges import to_range
from fxlsp.server.server import Server
from fxlsp.source.documents import Document
from fxlsp.source.positions import Encoding


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def document_symbol(params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        snapshot, document = server.open_document(params.text_document.uri)
        if document is None:
            return []
        return [_document_symbol(symbol, document, server.encoding) for symbol in symbols(snapshot, document.path)]


def _document_symbol(symbol: Symbol, document: Document, encoding: Encoding) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=symbol.name,
        kind=types.SymbolKind.Class if symbol.is_class else types.SymbolKind.Method,
        range=to_range(document.lines, symbol.span, encoding),
        selection_range=to_range(document.lines, symbol.name_span, encoding),
        children=[_document_symbol(child, document, encoding) for child in symbol.children],
    )
