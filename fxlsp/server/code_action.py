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
from fxlsp.server.server import Server
from fxlsp.server.sheets import Sheet, sheet_at
from fxlsp.source.documents import Document

_OPTIONS = types.CodeActionOptions(code_action_kinds=[types.CodeActionKind.QuickFix])


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, _OPTIONS)
    def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        snapshot, sheet = server.open_sheet(params.text_document.uri)
        if sheet is None or not server.support.code_actions or not _asks_for_fixes(params.context):
            return []
        selected = sheet.span(params.range)
        # Some editors name all problems of the line, wherever on it the cursor is.
        named = {(str(each.code), sheet.span(each.range)) for each in params.context.diagnostics}
        return [
            types.CodeAction(
                title=offer.fix.title,
                kind=types.CodeActionKind.QuickFix,
                diagnostics=[to_diagnostic(server, snapshot, sheet, offer.problem)],
                is_preferred=(offer.fix.preferred or None) if server.support.preferred_actions else None,
                edit=to_workspace_edit(server, sheet.document, offer.fix.edits),
            )
            for offer in offers(snapshot, sheet.path, selected, named)
        ]


def _asks_for_fixes(context: types.CodeActionContext) -> bool:
    """Whether the editor wants quick fixes; the empty kind stands for all."""
    wanted = (types.CodeActionKind.Empty, types.CodeActionKind.QuickFix)
    return context.only is None or any(kind in wanted for kind in context.only)


def to_workspace_edit(server: Server, document: Document, changes: Iterable[Edit]) -> types.WorkspaceEdit:
    """Edits of one document, for its present version where the editor can say so."""
    edits: dict[str, list[types.TextEdit]] = {}
    sheets: dict[str, Sheet] = {}
    for change in changes:
        sheet = sheet_at(document, change.span.line, server.encoding)
        sheets[sheet.uri] = sheet
        edits.setdefault(sheet.uri, []).append(types.TextEdit(sheet.range(change.span), change.new_text))
    if not server.support.versioned_edits:
        return types.WorkspaceEdit(changes=edits)
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=sheets[uri].version), each
            )
            for uri, each in edits.items()
        ]
    )
