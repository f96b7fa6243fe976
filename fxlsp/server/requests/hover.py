"""``textDocument/hover``."""

from __future__ import annotations

from lsprotocol import types

from fxlsp.ide.hover.hover import hover
from fxlsp.server.shared.markup import markup
from fxlsp.server.shared.server import Server


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def on_hover(params: types.HoverParams) -> types.Hover | None:
        _, text_document = server.find_text_document(params.text_document.uri)
        if text_document is None:
            return None
        line, column = text_document.place(params.position)
        server.engine.set_cursor(text_document.path, line)
        found = hover(server.engine.snapshot, text_document.path, line, column)
        if found is None:
            return None
        return types.Hover(contents=markup(found.text, server.support), range=text_document.range(found.span))
