"""``textDocument/hover``."""

from __future__ import annotations

from lsprotocol import types

from fxlsp.ide.hover.hover import hover
from fxlsp.server.session.markup import markup
from fxlsp.server.session.server import Server


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def on_hover(params: types.HoverParams) -> types.Hover | None:
        _, sheet = server.open_sheet(params.text_document.uri)
        if sheet is None:
            return None
        line, column = sheet.place(params.position)
        server.engine.set_cursor(sheet.path, line)
        found = hover(server.engine.snapshot, sheet.path, line, column)
        if found is None:
            return None
        return types.Hover(contents=markup(found.text, server.support), range=sheet.range(found.span))
