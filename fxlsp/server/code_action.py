"""``textDocument/codeAction``: quick fixes.

An action comes with its edit. That there is a fix is known only once the edit is: an editor that asked for it later
would save nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from fxlsp.answers.fixes.fix import Edit
from fxlsp.answers.fixes.offered import offers
from fxlsp.server.diagnostic import to_diagnostic
from fxlsp.server.ranges import from_range, to_range
from fxlsp.server.server import Server
from fxlsp.source.documents import Document

_OPTIONS = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, _OPTIONS)
    def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        snapshot, document = server.open_document(params.text_document.uri)
        if document is None or not server.support.code_actions or not _asks_for_fixes(params.context):
            return []
        selected = from_range(document.lines, params.range, server.encoding)
        # Some editors name all problems of the line, wherever on it the cursor is.
        named = {
            (str(each.code), from_range(document.lines, each.range, server.encoding))
            for each in params.context.diagnostics
        }
        return [
            types.CodeAction(
                title=offer.fix.title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[to_diagnostic(server, snapshot, document, offer.problem)],
                is_preferred=(offer.fix.preferred or None) if server.support.preferred_actions else None,
                edit=to_workspace_edit(server, document, offer.fix.edits),
            )
            for offer in offers(snapshot, document.path, selected, named)
        ]


def _asks_for_fixes(context: types.CodeActionContext) -> bool:
    """Whether the editor wants quick fixes; the empty kind stands for all."""
    wanted = (types.CodeActionKind.Empty, types.CodeActionKind.QuickFix)
    return context.only is None or any(kind in wanted for kind in context.only)


def to_workspace_edit(server: Server, document: Document, changes: Iterable[Edit]) -> types.WorkspaceEdit:
    """Edits of one document, for its present version where the editor can say so."""
    edits = [types.TextEdit(to_range(document.lines, edit.span, server.encoding), edit.new_text) for edit in changes]
    if not server.support.versioned_edits:
        return types.WorkspaceEdit(changes={document.uri: edits})
    identifier = types.OptionalVersionedTextDocumentIdentifier(uri=document.uri, version=document.version)
    return types.WorkspaceEdit(document_changes=[types.TextDocumentEdit(text_document=identifier, edits=edits)])
