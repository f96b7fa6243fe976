"""Coverage: classes whose ``forward`` ran inside the trace of another model.

They need no trace of their own.
"""

from __future__ import annotations

from fxlsp.report.report import Report
from fxlsp.source.models.models import model_classes
from fxlsp.source.text.documents import Document


def covered_classes(report: Report, document: Document, root: str) -> frozenset[str]:
    """Return the classes of a document whose ``forward`` a report shows with inputs.

    Args:
        report: traced on the exact text of ``document``.
        root: name of the traced model, which does not cover itself.

    Returns:
        Qualified names of the classes.
    """
    lines = _forward_lines(report, document.path)
    return frozenset(
        model.qualname
        for model in model_classes(document)
        if model.forward is not None and model.forward.name.line in lines and model.qualname != root
    )


def _forward_lines(report: Report, path: str) -> frozenset[int]:
    """Return the lines of ``path`` of each ``forward`` that ran.

    The lines of a decorated one start at its first decorator.
    """
    lines: set[int] = set()
    for call in report.calls:
        if call.forward is not None and call.forward.file == path and (report.verdict.traceable or call.output):
            lines.update(range(call.forward.line, call.forward.end_line + 1))
    return frozenset(lines)
