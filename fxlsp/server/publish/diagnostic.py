"""Conversion of a problem to an LSP diagnostic."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.problems import FileProblem
from fxlsp.report.code_records import Severity, Trait
from fxlsp.report.codes import codes_with, page_url
from fxlsp.server.shared.server import Server
from fxlsp.server.shared.text_documents import TextDocument, text_document_at

SOURCE = "fxlsp"

_UNNECESSARY = codes_with(Trait.OF_UNUSED_CODE)

_SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}


def to_diagnostic(
    server: Server, snapshot: Snapshot, text_document: TextDocument, problem: FileProblem
) -> types.Diagnostic:
    """Return the problem as the editor shows it."""
    related = list(_related(server, snapshot, problem)) if server.support.related_places else []
    return types.Diagnostic(
        range=text_document.range(problem.span),
        message=problem.message,
        severity=_SEVERITIES[problem.severity],
        code=problem.code or None,
        code_description=_page(problem.code) if problem.code and server.support.code_pages else None,
        source=SOURCE,
        tags=[types.DiagnosticTag.Unnecessary] if server.support.unnecessary and problem.code in _UNNECESSARY else None,
        related_information=related or None,
    )


def _page(code: str) -> types.CodeDescription:
    return types.CodeDescription(page_url(code))


def _related(server: Server, snapshot: Snapshot, problem: FileProblem) -> Iterator[types.DiagnosticRelatedInformation]:
    for place in problem.related:
        document = snapshot.document(place.path) or server.related_texts.document(place.path)
        if document is not None:
            location = text_document_at(document, place.span.line, server.encoding).location(place.span)
            yield types.DiagnosticRelatedInformation(location=location, message=place.message)
