"""``textDocument/documentSymbol``: classes and modules.

Classes come from syntax, so before anything is traced; modules come from the trace.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

from lsprotocol import types

from fxlsp.ide.navigation.document_symbols import Symbol, symbols
from fxlsp.server.shared.server import Server
from fxlsp.source.text.positions import Span

RangeOf = Callable[[Span], types.Range]

KINDS = {
    "class": types.SymbolKind.Class,
    "forward": types.SymbolKind.Method,
    "module": types.SymbolKind.Field,
}


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)
    def document_symbol(
        params: types.DocumentSymbolParams,
    ) -> list[types.DocumentSymbol] | list[types.SymbolInformation]:
        snapshot, text_document = server.find_text_document(params.text_document.uri)
        if text_document is None:
            return []
        found = [symbol for symbol in symbols(snapshot, text_document.path) if text_document.shows(symbol.span.line)]
        # Modules that one line made share its range.
        range_of = cache(text_document.range)
        if server.support.nested_symbols:
            return [_nested(symbol, range_of) for symbol in found]
        return [flat for symbol in found for flat in _flat(symbol, "", text_document.uri, range_of)]


def _nested(symbol: Symbol, range_of: RangeOf) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=symbol.name,
        detail=symbol.detail or None,
        kind=KINDS[symbol.kind],
        range=range_of(symbol.span),
        selection_range=range_of(symbol.name_span),
        children=[_nested(child, range_of) for child in symbol.children],
    )


def _flat(symbol: Symbol, inside: str, uri: str, range_of: RangeOf) -> Iterator[types.SymbolInformation]:
    """Yield a symbol and those below it, for editors without trees.

    Modules are named by their paths in the class around them.
    """
    yield types.SymbolInformation(
        name=symbol.path or symbol.name,
        kind=KINDS[symbol.kind],
        location=types.Location(uri=uri, range=range_of(symbol.span)),
        container_name=inside or None,
    )
    around = inside if symbol.kind == "module" else symbol.name
    for child in symbol.children:
        yield from _flat(child, around, uri, range_of)
