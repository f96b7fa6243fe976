"""Which classes need no trace of their own, since their ``forward`` ran inside the trace of another model."""

from __future__ import annotations

from fxlsp.report.report import Report
from fxlsp.source.models.models import model_classes
from fxlsp.source.text.documents import Document


def covered_classes(report: Report, document: Document, root: str) -> frozenset[str]:
    """Qualified names of the classes of ``document`` whose ``forward`` the report shows with what it was fed.

    Args:
        report: traced on the very text of ``document``.
        root: name of the traced model, which does not cover itself.
    """
    lines = _forward_lines(report, document.path)
    return frozenset(
        model.qualname
        for model in model_classes(document)
        if model.forward is not None and model.forward.name.line in lines and model.qualname != root
    )


def _forward_lines(report: Report, path: str) -> frozenset[int]:
    """The lines of ``path`` on which a ``forward`` is defined that ran; a decorated one counts from its decorator."""
    lines: set[int] = set()
    for call in report.calls:
        if call.forward is not None and call.forward.file == path and (report.verdict.traceable or call.output):
            lines.update(range(call.forward.line, call.forward.end_line + 1))
    return frozenset(lines)
