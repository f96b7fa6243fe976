"""The tree-sitter tree of a text: parsing, and reading nodes.

Nothing here recurses: a generated file may nest deeper than Python's stack.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

import tree_sitter_python
from tree_sitter import Language, Node, Parser, Query, QueryCursor, Tree

from fxlsp.source.text.positions import LineIndex, Span

_LANGUAGE = Language(tree_sitter_python.language())
_LONE_RETURN = re.compile(r"\r(?!\n)")


def has_lone_return(text: str) -> bool:
    """Whether the text has a line that ends with ``\\r`` alone."""
    return "\r" in text and _LONE_RETURN.search(text) is not None


def parse(text: str, old_tree: Tree | None = None) -> Tree:
    """The tree of a text, whose rows are its lines.

    tree-sitter takes a lone ``\\r`` for a blank, so it is given a ``\\n`` instead, which is as long.
    ``old_tree`` is the tree of an earlier text, told of the edits since.
    """
    source = text.encode("utf-8", "surrogatepass")
    if has_lone_return(text):
        source = _LONE_RETURN.sub("\n", text).encode("utf-8", "surrogatepass")
    # A parser must not be shared by threads, and costs nothing to make.
    parser = Parser(_LANGUAGE)
    return parser.parse(source) if old_tree is None else parser.parse(source, old_tree)


@cache
def _compiled(query: str) -> Query:
    compiled: Query = Query(_LANGUAGE, query)
    return compiled


def captures(node: Node, query: str) -> dict[str, list[Node]]:
    """The nodes that a query finds under ``node``, by the name of their capture, in the order of the text."""
    found = QueryCursor(_compiled(query)).captures(node)
    return {name: sorted(nodes, key=_outside_in) for name, nodes in found.items()}


def parents_of(root: Node, keyword: str) -> list[Node]:
    """What has a keyword as a part of its own, in the order of the text: the ``class_definition`` of a ``class``.

    The letters say where to look, and the tree whether it is one there. A query visits each node of the text instead,
    which takes ten times as long.
    """
    source, start = root.text or b"", root.start_byte
    found: list[Node] = []
    for match in _letters(keyword).finditer(source):
        node = root.descendant_for_byte_range(start + match.start(), start + match.end())
        parent = node.parent if node is not None and node.type == keyword else None
        if parent is not None:
            found.append(parent)
    return found


@cache
def _letters(keyword: str) -> re.Pattern[bytes]:
    # An expression that starts with a letter is the faster one; what ends with the keyword is another node.
    return re.compile(re.escape(keyword.encode("ascii")) + rb"\b")


def _outside_in(node: Node) -> tuple[int, int]:
    return node.start_byte, -node.end_byte


def walk(node: Node) -> Iterator[Node]:
    """The node and everything under it, parents first, in the order of the text."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.children))


def ancestors(node: Node) -> Iterator[Node]:
    """What encloses the node, innermost first."""
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def text_of(node: Node) -> str:
    """The text of a node."""
    return (node.text or b"").decode("utf-8", "surrogatepass")


def field(node: Node, name: str) -> Node | None:
    """A part of a node by its name in the grammar."""
    return node.child_by_field_name(name)


def first_part(node: Node) -> Node | None:
    """The first part of a node that has a name in the grammar; None for a node without any."""
    return node.named_child(0) if node.named_child_count else None


def assignment_in(statement: Node) -> Node | None:
    """The assignment that a statement consists of."""
    inner = first_part(statement) if statement.type == "expression_statement" else None
    return inner if inner is not None and inner.type == "assignment" else None


def span_of(node: Node, lines: LineIndex) -> Span:
    """Where a node stands."""
    start, end = node.start_point, node.end_point
    return Span(*lines.from_bytes(start.row, start.column), *lines.from_bytes(end.row, end.column))


def dotted_name(node: Node | None) -> str | None:
    """``a.b.c`` for an identifier or a chain of attributes, None for any other expression."""
    parts: list[str] = []
    while node is not None and node.type == "attribute":
        attribute = field(node, "attribute")
        parts.append("" if attribute is None else text_of(attribute))
        node = field(node, "object")
    if node is None or node.type != "identifier":
        return None
    return ".".join([text_of(node), *reversed(parts)])
