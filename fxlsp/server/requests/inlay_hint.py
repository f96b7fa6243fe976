"""``textDocument/inlayHint`` and ``inlayHint/resolve``."""

from __future__ import annotations

from lsprotocol import types

from fxlsp.ide.hints import Hint, hints
from fxlsp.server.session.markup import markup
from fxlsp.server.session.server import Server
from fxlsp.server.session.text_documents import Sheet


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint]:
        snapshot, sheet = server.open_sheet(params.text_document.uri)
        if sheet is None:
            return []
        wanted = sheet.span(params.range)
        found = hints(snapshot, sheet.path, wanted.line, wanted.end_line)
        if server.still_hints is not None:
            found = server.still_hints.held(sheet.path, range(wanted.line, wanted.end_line + 1), found)
        return [_inlay_hint(server, sheet, hint) for hint in found]

    @server.feature(types.INLAY_HINT_RESOLVE)
    def resolve(hint: types.InlayHint) -> types.InlayHint:
        uri = hint.data.get("uri") if isinstance(hint.data, dict) else None
        snapshot, sheet = server.open_sheet(str(uri))
        if sheet is not None:
            line, _ = sheet.place(hint.position)
            for present in hints(snapshot, sheet.path, line, line):
                hint.tooltip = markup(present.tooltip, server.support)
        return hint


def _inlay_hint(server: Server, sheet: Sheet, hint: Hint) -> types.InlayHint:
    """A hint, with its tooltip only for editors that will not ask for it."""
    return types.InlayHint(
        position=sheet.position(hint.line, hint.column),
        label=hint.text,
        kind=types.InlayHintKind.Type,
        padding_left=True,
        tooltip=None if server.support.resolves_tooltips else markup(hint.tooltip, server.support),
        data={"uri": sheet.uri},
    )
