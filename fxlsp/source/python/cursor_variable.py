"""The variable under the cursor, and the value that a statement gives it."""

from __future__ import annotations

from typing import NamedTuple

from tree_sitter import Node

from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from fxlsp.source.text.syntax import field, span_of, text_of


class Variable(NamedTuple):
    """A name that is read or assigned."""

    name: str
    span: Span
    value: Span | None
    """The expression that a plain assignment gives it; None where the name is read."""


def variable_at(document: Document, line: int, column: int) -> Variable | None:
    """The variable at a place; None for attributes, names of arguments, definitions, and what unpacking assigns."""
    point = document.lines.to_bytes(line, column)
    node = document.tree.root_node.named_descendant_for_point_range(point, point)
    if node is None or node.type != "identifier" or node.parent is None:
        return None
    parent, span = node.parent, span_of(node, document.lines)
    if parent.type == "assignment" and field(parent, "left") == node:
        value = _plain(field(parent, "right"))
        return None if value is None else Variable(text_of(node), span, span_of(value, document.lines))
    return Variable(text_of(node), span, None) if _is_read(node, parent) else None


def _plain(value: Node | None) -> Node | None:
    """The expression without brackets around it; of ``a = b = x`` the last."""
    while value is not None and value.type in ("parenthesized_expression", "assignment"):
        value = field(value, "right") if value.type == "assignment" else value.named_child(0)
    return value


def _is_read(node: Node, parent: Node) -> bool:
    if parent.type == "attribute":
        return field(parent, "object") == node
    if parent.type == "keyword_argument":
        return field(parent, "value") == node
    return parent.type in _READERS


_READERS = {
    *("argument_list", "binary_operator", "unary_operator", "not_operator", "comparison_operator", "boolean_operator"),
    *("subscript", "list", "tuple", "set", "pair", "dictionary", "conditional_expression", "parenthesized_expression"),
    *("expression_list", "return_statement", "augmented_assignment", "assignment", "list_splat", "dictionary_splat"),
    *("slice", "interpolation", "if_statement", "while_statement", "assert_statement", "for_statement"),
}
"""What may have a name among its parts that is read there."""
