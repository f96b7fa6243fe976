"""One problem as an LSP diagnostic."""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import lru_cache

from lsprotocol import types

from fxlsp.answers.problems import FileProblem
from fxlsp.engine.store import Snapshot
from fxlsp.report.codes import Severity, page_of
from fxlsp.server.ranges import to_range
from fxlsp.server.server import Server
from fxlsp.source.documents import Document, read_document, uri_of_path
from fxlsp.source.positions import LineIndex

SOURCE = "fxlsp"

_SEVERITIES: dict[Severity, types.DiagnosticSeverity] = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
    "hint": types.DiagnosticSeverity.Hint,
}


def to_diagnostic(server: Server, snapshot: Snapshot, document: Document, problem: FileProblem) -> types.Diagnostic:
    """The problem as the editor shows it."""
    related = list(_related(server, snapshot, problem)) if server.support.related_places else []
    return types.Diagnostic(
        range=to_range(document.lines, problem.span, server.encoding),
        message=problem.message,
        severity=_SEVERITIES[problem.severity],
        code=problem.code or None,
        code_description=_page(problem.code) if problem.code and server.support.code_pages else None,
        source=SOURCE,
        related_information=related or None,
    )


def _page(code: str) -> types.CodeDescription:
    return types.CodeDescription(page_of(code))


def _related(server: Server, snapshot: Snapshot, problem: FileProblem) -> Iterator[types.DiagnosticRelatedInformation]:
    for place in problem.related:
        document = snapshot.documents.get(place.path)
        uri = uri_of_path(place.path) if document is None else document.uri
        lines = _lines_on_disk(place.path) if document is None else document.lines
        if lines is not None:
            location = types.Location(uri=uri, range=to_range(lines, place.span, server.encoding))
            yield types.DiagnosticRelatedInformation(location=location, message=place.message)


def _lines_on_disk(path: str) -> LineIndex | None:
    """The lines of a file that is not open, such as a library's; None if it cannot be read."""
    try:
        return _lines_of_version(path, os.stat(path).st_mtime_ns)
    except (OSError, UnicodeDecodeError, SyntaxError):
        return None


@lru_cache(maxsize=16)
def _lines_of_version(path: str, _modified: int) -> LineIndex:
    return read_document(path).lines
