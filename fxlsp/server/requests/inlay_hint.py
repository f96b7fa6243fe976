"""``textDocument/inlayHint`` and ``inlayHint/resolve``."""

from __future__ import annotations

from lsprotocol import types

from fxlsp.ide.hints import Hint, hints
from fxlsp.server.shared.markup import markup
from fxlsp.server.shared.server import Server
from fxlsp.server.shared.text_documents import TextDocument


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_INLAY_HINT)
    def inlay_hint(params: types.InlayHintParams) -> list[types.InlayHint]:
        snapshot, text_document = server.find_text_document(params.text_document.uri)
        if text_document is None:
            return []
        wanted = text_document.span(params.range)
        found = hints(snapshot, text_document.path, wanted.line, wanted.end_line)
        if server.steady_hints is not None:
            found = server.steady_hints.hints_to_show(
                text_document.path, range(wanted.line, wanted.end_line + 1), found
            )
        return [_inlay_hint(server, text_document, hint) for hint in found]

    @server.feature(types.INLAY_HINT_RESOLVE)
    def resolve(hint: types.InlayHint) -> types.InlayHint:
        uri = hint.data.get("uri") if isinstance(hint.data, dict) else None
        snapshot, text_document = server.find_text_document(str(uri))
        if text_document is not None:
            line, _ = text_document.place(hint.position)
            found = hints(snapshot, text_document.path, line, line)
            if not found and server.steady_hints is not None:
                found = server.steady_hints.old_hints(text_document.path, line)
            for present in found:
                hint.tooltip = markup(present.tooltip, server.support)
        return hint


def _inlay_hint(server: Server, text_document: TextDocument, hint: Hint) -> types.InlayHint:
    """Return a hint, with its tooltip only for editors that do not resolve tooltips."""
    return types.InlayHint(
        position=text_document.position(hint.line, hint.column),
        label=hint.text,
        kind=types.InlayHintKind.Type,
        padding_left=True,
        tooltip=None if server.support.resolves_tooltips else markup(hint.tooltip, server.support),
        data={"uri": text_document.uri},
    )
