"""The tree-sitter tree of a text: parsing, and access to nodes.

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
    """Return whether a line of the text ends with ``\\r`` alone."""
    return "\r" in text and _LONE_RETURN.search(text) is not None


def parse(text: str, old_tree: Tree | None = None) -> Tree:
    """Parse a text to a tree whose rows are the lines of the text.

    tree-sitter reads a lone ``\\r`` as white space, so it is replaced by ``\\n``, which has the same length.

    Args:
        old_tree: the tree of an earlier text with the edits since applied to it.
    """
    source = text.encode("utf-8", "surrogatepass")
    if has_lone_return(text):
        source = _LONE_RETURN.sub("\n", text).encode("utf-8", "surrogatepass")
    # A parser must not be shared between threads, and creating one costs nothing.
    parser = Parser(_LANGUAGE)
    return parser.parse(source) if old_tree is None else parser.parse(source, old_tree)


@cache
def _compiled(query: str) -> Query:
    compiled: Query = Query(_LANGUAGE, query)
    return compiled


def captures(node: Node, query: str) -> dict[str, list[Node]]:
    """Return the nodes that a query captures under ``node``, in text order."""
    found = QueryCursor(_compiled(query)).captures(node)
    return {name: sorted(nodes, key=_outside_in) for name, nodes in found.items()}


def parents_of(root: Node, keyword: str) -> list[Node]:
    """Return the parents of all tokens of a keyword, in text order.

    For ``class`` these are the ``class_definition`` nodes. A regular expression finds candidates, which the tree
    confirms. A query visits each node of the text instead, which takes ten times as long.
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
    # A pattern that starts with a letter is faster than one with ``\b`` before it. The end of a longer word matches
    # too, but is another node.
    return re.compile(re.escape(keyword.encode("ascii")) + rb"\b")


def _outside_in(node: Node) -> tuple[int, int]:
    return node.start_byte, -node.end_byte


def walk(node: Node) -> Iterator[Node]:
    """Yield the node and all its descendants, parents first, in text order."""
    waiting = [node]
    while waiting:
        current = waiting.pop()
        yield current
        waiting.extend(reversed(current.children))


def ancestors(node: Node) -> Iterator[Node]:
    """Yield the ancestors of a node, innermost first."""
    parent = node.parent
    while parent is not None:
        yield parent
        parent = parent.parent


def text_of(node: Node) -> str:
    """Return the text of a node."""
    return (node.text or b"").decode("utf-8", "surrogatepass")


def field(node: Node, name: str) -> Node | None:
    """Return the child in a field of the grammar, if there is one."""
    return node.child_by_field_name(name)


def first_part(node: Node) -> Node | None:
    """Return the first named child of a node, if there is one."""
    return node.named_child(0) if node.named_child_count else None


def assignment_in(statement: Node) -> Node | None:
    """Return the assignment that a statement consists of, if it is one."""
    inner = first_part(statement) if statement.type == "expression_statement" else None
    return inner if inner is not None and inner.type == "assignment" else None


def span_of(node: Node, lines: LineIndex) -> Span:
    """Return the span of a node."""
    start, end = node.start_point, node.end_point
    return Span(*lines.from_bytes(start.row, start.column), *lines.from_bytes(end.row, end.column))


def dotted_name(node: Node | None) -> str | None:
    """Return ``a.b.c`` for an identifier or chain of attributes, else None."""
    parts: list[str] = []
    while node is not None and node.type == "attribute":
        attribute = field(node, "attribute")
        parts.append("" if attribute is None else text_of(attribute))
        node = field(node, "object")
    if node is None or node.type != "identifier":
        return None
    return ".".join([text_of(node), *reversed(parts)])
