"""The statement around an expression."""

from __future__ import annotations

from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from fxlsp.source.text.syntax import ancestors, span_of

_BODIES = frozenset({"block", "module"})


def statement_around(document: Document, span: Span) -> Span | None:
    """The simple statement that holds ``span``; None if only a compound one does, such as the head of a loop."""
    start, end = (
        document.lines.to_bytes(span.line, span.column),
        document.lines.to_bytes(span.end_line, span.end_column),
    )
    node = document.tree.root_node.descendant_for_point_range(start, end)
    for around in () if node is None else (node, *ancestors(node)):
        if around.parent is not None and around.parent.type in _BODIES:
            return span_of(around, document.lines) if around.child_by_field_name("body") is None else None
    return None
