"""``textDocument/diagnostic``, for editors that pull problems."""

from __future__ import annotations

import hashlib

from lsprotocol import types

from fxlsp.server.publish.diagnostics import Diagnostics
from fxlsp.server.shared.server import Server


def register(server: Server, diagnostics: Diagnostics) -> None:
    """Register ``textDocument/diagnostic``, only for editors that pull."""
    options = types.DiagnosticOptions(inter_file_dependencies=True, workspace_diagnostics=False, identifier=server.name)

    @server.feature(types.TEXT_DOCUMENT_DIAGNOSTIC, options)
    def document_diagnostic(params: types.DocumentDiagnosticParams) -> types.DocumentDiagnosticReport:
        _, text_document = server.find_text_document(params.text_document.uri)
        items = diagnostics.current(text_document) if text_document is not None else []
        result_id = _result_id(items)
        if result_id == params.previous_result_id:
            return types.RelatedUnchangedDocumentDiagnosticReport(result_id=result_id)
        return types.RelatedFullDocumentDiagnosticReport(items=items, result_id=result_id)


def _result_id(items: list[types.Diagnostic]) -> str:
    return hashlib.sha256(repr(items).encode("utf-8", "surrogatepass")).hexdigest()[:16]
