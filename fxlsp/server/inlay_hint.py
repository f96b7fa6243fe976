"""``textDocument/inlayHint`` and ``inlayHint/resolve``."""

from __future__ import annotations

from lsprotocol import types

from fxlsp.answers.hints import Hint, hints
from fxlsp.server.markup import markup
from fxlsp.server.ranges import from_position, to_position
from fxlsp.server.server import Server
from fxlsp.source.documents import Document


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint]:
        snapshot, document = server.open_document(params.text_document.uri)
        if document is None or not snapshot.hints:
            return []
        first, _ = from_position(document.lines, params.range.start, server.encoding)
        last, _ = from_position(document.lines, params.range.end, server.encoding)
        return [_inlay_hint(server, document, hint) for hint in hints(snapshot, document.path, first, last)]

    @server.feature(types.INLAY_HINT_RESOLVE)
    def resolve(hint: types.InlayHint) -> types.InlayHint:
        uri = hint.data.get("uri") if isinstance(hint.data, dict) else None
        snapshot, document = server.open_document(str(uri))
        if document is not None:
            line, _ = from_position(document.lines, hint.position, server.encoding)
            for present in hints(snapshot, document.path, line, line):
                hint.tooltip = markup(present.tooltip, server.support)
        return hint


def _inlay_hint(server: Server, document: Document, hint: Hint) -> types.InlayHint:
    """A hint, with its tooltip only for editors that will not ask for it."""
    return types.InlayHint(
        position=to_position(document.lines, hint.line, hint.column, server.encoding),
        label=hint.text,
        kind=types.InlayHintKind.Type,
        padding_left=True,
        tooltip=None if server.support.resolves_tooltips else markup(hint.tooltip, server.support),
        data={"uri": document.uri},
    )
