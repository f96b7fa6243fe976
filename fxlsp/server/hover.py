"""``textDocument/hover``."""

from __future__ import annotations

from lsprotocol import types

from fxlsp.answers.hover import hover
from fxlsp.server.markup import markup
from fxlsp.server.ranges import from_position, to_range
from fxlsp.server.server import Server


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_HOVER)
    def on_hover(params: types.HoverParams) -> types.Hover | None:
        _, document = server.open_document(params.text_document.uri)
        if document is None:
            return None
        line, column = from_position(document.lines, params.position, server.encoding)
        server.engine.touch(document.path, line)
        found = hover(server.engine.snapshot, document.path, line, column)
        if found is None:
            return None
        span = to_range(document.lines, found.span, server.encoding)
        return types.Hover(contents=markup(found.text, server.support), range=span)
