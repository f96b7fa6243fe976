"""``textDocument/codeAction``: quick fixes, and shapes as a comment.

That comment can be written at nearly every place. It is offered when the user requests actions, not to editors that
show a light bulb where there are actions.

An action comes with its edit. Whether there is a fix is known only with the edit: an editor that requested the edit
later would save nothing.
"""

from __future__ import annotations

from collections.abc import Iterable

from lsprotocol import types

from fxlsp.ide.fixes.fix import Edit, Fix
from fxlsp.ide.fixes.registry import quick_fixes
from fxlsp.ide.hover.shape_comment import shape_comment
from fxlsp.server.publish.diagnostic import to_diagnostic
from fxlsp.server.shared.server import Server
from fxlsp.server.shared.text_documents import TextDocument, text_document_at
from fxlsp.source.text.documents import Document

_FIX, _COMMENT = types.CodeActionKind.QuickFix, types.CodeActionKind.RefactorRewrite
_OPTIONS = types.CodeActionOptions(code_action_kinds=[_FIX, _COMMENT])


def register(server: Server) -> None:
    @server.feature(types.TEXT_DOCUMENT_CODE_ACTION, _OPTIONS)
    def code_action(params: types.CodeActionParams) -> list[types.CodeAction]:
        snapshot, text_document = server.find_text_document(params.text_document.uri)
        if text_document is None or not server.support.code_actions:
            return []
        selected = text_document.span(params.range)
        server.typing_state.cursor_moved(text_document.path, selected.end_line)
        comment = shape_comment(snapshot, text_document.path, selected) if _asks_for_comments(params) else None
        comments = [] if comment is None else [_to_action(server, text_document, comment, _COMMENT)]
        if not _asks_for(params.context, _FIX):
            return comments
        # Some editors send all problems of the line, wherever on it the cursor is.
        named = {(str(each.code), text_document.span(each.range)) for each in params.context.diagnostics}
        fixes = [
            _to_action(
                server,
                text_document,
                quick_fix.fix,
                _FIX,
                [to_diagnostic(server, snapshot, text_document, each) for each in quick_fix.problems],
            )
            for quick_fix in quick_fixes(snapshot, text_document.path, selected, named)
        ]
        return [*fixes, *comments]


def _to_action(
    server: Server,
    text_document: TextDocument,
    fix: Fix,
    kind: types.CodeActionKind,
    fixed: list[types.Diagnostic] | None = None,
) -> types.CodeAction:
    return types.CodeAction(
        title=fix.title,
        kind=kind,
        diagnostics=fixed,
        is_preferred=(fix.preferred or None) if server.support.preferred_actions else None,
        edit=to_workspace_edit(server, text_document.document, fix.edits),
    )


def _asks_for(context: types.CodeActionContext, kind: types.CodeActionKind) -> bool:
    """Return whether the editor requests actions of a kind.

    A requested kind includes its sub-kinds, the empty one includes all.
    """
    return context.only is None or any(f"{kind.value}.".startswith(f"{each}." if each else "") for each in context.only)


def _asks_for_comments(params: types.CodeActionParams) -> bool:
    """Return whether the user requests comments.

    The user does so by the kind, by a selection, or by requesting all actions at a place. The range of a problem is no
    selection: editors that show fixes beside a problem request actions for its range.
    """
    context = params.context
    if context.only is not None or context.trigger_kind == types.CodeActionTriggerKind.Invoked:
        return _asks_for(context, _COMMENT)
    problems = [each.range for each in context.diagnostics]
    return params.range.start != params.range.end and params.range not in problems


def to_workspace_edit(server: Server, document: Document, changes: Iterable[Edit]) -> types.WorkspaceEdit:
    """Return edits of one document, with its version where the editor supports that."""
    edits: dict[str, list[types.TextEdit]] = {}
    text_documents: dict[str, TextDocument] = {}
    for change in changes:
        text_document = text_document_at(document, change.span.line, server.encoding)
        text_documents[text_document.uri] = text_document
        edits.setdefault(text_document.uri, []).append(
            types.TextEdit(text_document.range(change.span), change.new_text)
        )
    if not server.support.versioned_edits:
        return types.WorkspaceEdit(changes=edits)
    return types.WorkspaceEdit(
        document_changes=[
            types.TextDocumentEdit(
                types.OptionalVersionedTextDocumentIdentifier(uri=uri, version=text_documents[uri].version), each
            )
            for uri, each in edits.items()
        ]
    )
