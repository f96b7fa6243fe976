"""Where the parameters of a ``forward`` stand."""

from __future__ import annotations

from tree_sitter import Node

from fxlsp.source.models.models import ForwardDef
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import LineIndex, Span
from fxlsp.source.text.syntax import field, span_of


def parameter_spans(document: Document, forward: ForwardDef) -> tuple[Span, ...]:
    """Each parameter but the first (``self``) with its annotation, without its default; stars are left out.

    Empty for a ``forward`` that is assigned, not defined.
    """
    row, column = document.lines.to_bytes(forward.name.line, forward.name.column)
    name = document.tree.root_node.named_descendant_for_point_range((row, column), (row, column))
    definition = None if name is None else name.parent
    parameters = None if definition is None else field(definition, "parameters")
    if parameters is None:
        return ()
    spans = [_span(parameter, document.lines) for parameter in parameters.named_children]
    return tuple(span for span in spans[1:] if span is not None)


def _span(parameter: Node, lines: LineIndex) -> Span | None:
    if parameter.type in ("identifier", "typed_parameter"):
        return span_of(parameter, lines)
    name = field(parameter, "name")
    if parameter.type not in ("default_parameter", "typed_default_parameter") or name is None:
        return None
    start, end = span_of(name, lines), span_of(field(parameter, "type") or name, lines)
    return Span(start.line, start.column, end.end_line, end.end_column)
