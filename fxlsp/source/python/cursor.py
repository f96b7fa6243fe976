"""What is under the cursor: a variable, an attribute path or a module name."""

from __future__ import annotations

import builtins
from collections.abc import Collection, Iterator
from typing import NamedTuple

from tree_sitter import Node

from fxlsp.source.python.class_statements import statements_run_by
from fxlsp.source.python.imports import imported_names
from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import LineIndex, Span
from fxlsp.source.text.syntax import ancestors, dotted_name, field, parse, span_of, text_of, walk


class Variable(NamedTuple):
    """Name that is read or assigned."""

    name: str
    span: Span
    value: Span | None
    """The assigned expression; None where the name is read."""


def variable_at(document: Document, line: int, column: int) -> Variable | None:
    """Return the variable at a place.

    None for attributes, names of arguments, definitions and targets of an unpacking.
    """
    point = document.lines.to_bytes(line, column)
    node = document.tree.root_node.named_descendant_for_point_range(point, point)
    if node is None or node.type != "identifier" or node.parent is None:
        return None
    parent, span = node.parent, span_of(node, document.lines)
    if parent.type == "assignment" and field(parent, "left") == node:
        value = _assigned_value(field(parent, "right"))
        return None if value is None else Variable(text_of(node), span, span_of(value, document.lines))
    return Variable(text_of(node), span, None) if _is_read(node, parent) else None


def _assigned_value(value: Node | None) -> Node | None:
    """Return the expression without parentheses; of ``a = b = x`` the last."""
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
"""Nodes whose direct children may be names that are read."""


_KEYS = {"integer", "string"}


class AttributePath(NamedTuple):
    """Chain of attributes and constant indexes that starts at ``self``."""

    parts: tuple[str, ...]
    """``("layers", "0", "conv")``."""
    span: Span


def attribute_path_at(document: Document, line: int, column: int) -> AttributePath | None:
    """Return the chain up to the name under the cursor; None elsewhere.

    None too where an index is not constant.
    """
    point = document.lines.to_bytes(line, column)
    name = document.tree.root_node.named_descendant_for_point_range(point, point)
    if name is None or name.type != "identifier":
        return None
    chain = name.parent
    if chain is None or chain.type != "attribute" or field(chain, "attribute") != name:
        return None
    parts = _parts(chain)
    return None if parts is None else AttributePath(parts, span_of(chain, document.lines))


def _parts(chain: Node) -> tuple[str, ...] | None:
    parts: list[str] = []
    node: Node | None = chain
    while node is not None and node.type in ("attribute", "subscript"):
        if node.type == "attribute":
            attribute = field(node, "attribute")
            parts.append("" if attribute is None else text_of(attribute))
            node = field(node, "object")
            continue
        key = _key(node)
        if key is None:
            return None
        parts.append(key)
        node = field(node, "value")
    is_own = node is not None and node.type == "identifier" and text_of(node) == "self"
    return tuple(reversed(parts)) if is_own and all(parts) else None


def _key(subscript: Node) -> str | None:
    """Return the single constant in the brackets; None for another index."""
    keys = subscript.children_by_field_name("subscript")
    if len(keys) != 1 or keys[0].type not in _KEYS:
        return None
    content = [child for child in keys[0].named_children if child.type == "string_content"]
    return text_of(content[0]) if content else text_of(keys[0]) if keys[0].type == "integer" else None


_MODULE_METHODS = frozenset({"forward", "__call__"})
"""Methods of a module whose call runs the module itself."""

_WORDS = frozenset({"identifier", "true", "false", "none"})


def module_name_at(document: Document, call: Span, line: int, column: int, names: Collection[str]) -> Span | None:
    """Return the span of the module name in a call, if the cursor is on it; else None.

    In ``self.layers[i](x)`` these are ``layers`` and the brackets, but not ``self``, ``i`` and ``x``. In a call that
    passes the module to a function, as in ``checkpoint(self.layer, x)``, it is the attribute that names the module.

    Args:
        call: the call expression in ``document``, which need not parse.
        names: attributes as which the module may be passed to a function.
    """
    # Parsed alone, the expression has the tree that it had in the trace, whatever is being typed around it.
    text = document.lines.slice(call)
    tree = parse(f"({text})")
    expression = _call_in(tree.root_node)
    function = None if expression is None else field(expression, "function")
    if expression is None or function is None:
        return None
    offset = document.lines.offset(line, column) - document.lines.offset(call.line, call.column) + 1
    around = _Expression(LineIndex(f"({text})"), expression)
    name = dotted_name(function)
    if name is not None and name.partition(".")[0] in document.derive(_functions):
        found = around.attribute_at(offset, names)
    else:
        found = around.callee_at(function, offset)
    if found is None:
        return None
    start = document.lines.offset(call.line, call.column) - 1
    return document.lines.span(start + found[0], start + found[1])


class _Expression:
    """Call expression with offsets of its own text."""

    def __init__(self, lines: LineIndex, call: Node) -> None:
        self._lines = lines
        self._call = call

    def callee_at(self, function: Node, offset: int) -> tuple[int, int] | None:
        start, end = self._offsets(function)
        if not start <= offset <= end:
            return None
        name = _last_name(function)
        named = None if name is None else self._offsets(name)
        touched = [
            self._offsets(word) for word in walk(function) if word.type in _WORDS and self._touches(word, offset)
        ]
        if touched:
            return (named[0], end) if named is not None and named in touched else None
        # After the callee comes the parenthesis, which belongs to the call.
        return None if offset == end and named is None else (start if named is None else named[0], end)

    def attribute_at(self, offset: int, names: Collection[str]) -> tuple[int, int] | None:
        for word in walk(self._call):
            attribute = word.parent
            if (
                attribute is not None
                and attribute.type == "attribute"
                and field(attribute, "attribute") == word
                and text_of(word) in names
                and self._touches(word, offset)
                and any(each.type == "argument_list" for each in ancestors(word))
            ):
                return self._offsets(word)
        return None

    def _touches(self, node: Node, offset: int) -> bool:
        start, end = self._offsets(node)
        return start <= offset <= end

    def _offsets(self, node: Node) -> tuple[int, int]:
        span = span_of(node, self._lines)
        return self._lines.offset(span.line, span.column), self._lines.offset(span.end_line, span.end_column)


def _call_in(root: Node) -> Node | None:
    """Return the call that the whole parenthesized text consists of, if it is one."""
    node: Node | None = root
    while node is not None and node.type in ("module", "expression_statement", "parenthesized_expression"):
        node = node.named_child(0) if node.named_child_count == 1 else None
    return node if node is not None and node.type == "call" else None


def _last_name(function: Node) -> Node | None:
    """Return ``layer`` of ``self.layer``, ``self.layer[0]``, ``self.layer.forward``."""
    node: Node | None = function
    while node is not None:
        if node.type == "identifier":
            return node
        if node.type == "subscript":
            node = field(node, "value")
        elif node.type == "attribute":
            name = field(node, "attribute")
            if name is None or text_of(name) not in _MODULE_METHODS:
                return name
            node = field(node, "object")
        else:
            return None
    return None


def _functions(document: Document) -> frozenset[str]:
    """Return imported and builtin names, and those defined at the top level."""
    root = document.tree.root_node
    return frozenset({*imported_names(root).names, *_defined(root), *vars(builtins)})


def _defined(root: Node) -> Iterator[str]:
    for statement in statements_run_by(root):
        name = field(statement, "name") if statement.type in ("function_definition", "class_definition") else None
        if name is not None:
            yield text_of(name)
