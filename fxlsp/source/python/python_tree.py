"""Python's own syntax tree of a text, with parents and offsets, for edits.

tree-sitter accepts text that does not parse. An edit needs text that does, and Python's tree is more detailed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeVar

from fxlsp.source.text.documents import Document
from fxlsp.source.text.positions import Span
from fxlsp.source.text.python_parser import SYNTAX_ERRORS, parsed_module
from fxlsp.source.text.syntax import ancestors, span_of

T = TypeVar("T", bound=ast.AST)

Positioned = ast.stmt | ast.expr | ast.keyword | ast.alias
Function = ast.FunctionDef | ast.AsyncFunctionDef


class PythonTree:
    """Python's syntax tree of one document."""

    def __init__(self, document: Document) -> None:
        """Parse a document.

        Raises:
            SYNTAX_ERRORS: the document does not parse.
        """
        self.document = document
        self.lines = document.lines
        self.module = parsed_module(document.text)
        self._parents: dict[ast.AST, ast.AST] = {}
        waiting: list[ast.AST] = [self.module]
        while waiting:
            node = waiting.pop()
            for child in ast.iter_child_nodes(node):
                self._parents[child] = node
                waiting.append(child)

    def parent(self, node: ast.AST) -> ast.AST | None:
        """Return the parent of a node; None for the module."""
        return self._parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """Yield the ancestors of a node, innermost first."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)

    def start(self, node: Positioned) -> int:
        """Return the offset of the start of a node."""
        return self.lines.offset(*self.lines.from_bytes(node.lineno - 1, node.col_offset))

    def end(self, node: Positioned) -> int:
        """Return the offset of the end of a node."""
        if node.end_lineno is None or node.end_col_offset is None:
            return self.start(node)
        return self.lines.offset(*self.lines.from_bytes(node.end_lineno - 1, node.end_col_offset))

    def text(self, node: Positioned) -> str:
        """Return the text of a node, without parentheses around it."""
        return self.document.text[self.start(node) : self.end(node)]

    def function_of(self, node: ast.AST) -> Function | None:
        """Return the innermost ``def`` that contains a node."""
        return next((each for each in self.ancestors(node) if isinstance(each, Function)), None)

    def class_of(self, function: ast.AST) -> ast.ClassDef | None:
        """Return the class of which a function is a method, if it is one."""
        parent = self._parents.get(function)
        while isinstance(parent, ast.If | ast.Try | ast.With):
            parent = self._parents.get(parent)
        return parent if isinstance(parent, ast.ClassDef) else None

    def node_at(self, span: Span, *kinds: type[T]) -> T | None:
        """Return the node of the given kinds to which a span refers.

        This is the node with exactly that span, else the only one inside it, else the innermost one around it. Where
        columns are unknown (Python 3.10) a span is a whole line, which may contain several: then the result is None.
        """
        start, end = self._offsets(span)
        inside: list[T] = []
        around: list[tuple[int, T]] = []
        for node in self._on_lines(span):
            first, last = self.start(node), self.end(node)
            if not isinstance(node, kinds):
                continue
            if (first, last) == (start, end):
                return node
            if start <= first and last <= end:
                inside.append(node)
            elif first <= start and end <= last:
                around.append((last - first, node))
        if inside:
            outermost = [node for node in inside if not any(each in inside for each in self.ancestors(node))]
            return outermost[0] if len(outermost) == 1 else None
        return min(around, key=lambda each: each[0])[1] if around else None

    def _offsets(self, span: Span) -> tuple[int, int]:
        """Return the start and end of a span, without white space at its ends."""
        start, end = self.lines.offset(span.line, span.column), self.lines.offset(span.end_line, span.end_column)
        text = self.document.text[start:end]
        return start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())

    def _on_lines(self, span: Span) -> Iterator[Positioned]:
        """Yield the nodes that have a line in common with a span."""
        waiting: list[ast.AST] = [self.module]
        while waiting:
            node = waiting.pop()
            if isinstance(node, Positioned):
                yield node
            for child in ast.iter_child_nodes(node):
                first = getattr(child, "lineno", span.line)
                for decorator in getattr(child, "decorator_list", ()):
                    first = min(first, decorator.lineno)
                if first <= span.end_line and getattr(child, "end_lineno", span.line) >= span.line:
                    waiting.append(child)

    def covers(self, node: Positioned, span: Span) -> bool:
        """Return whether a node contains a span or the span contains the node."""
        start, end = self._offsets(span)
        first, last = self.start(node), self.end(node)
        return (first <= start and end <= last) or (start <= first and last <= end)

    def is_at(self, node: Positioned, span: Span) -> bool:
        """Return whether a span is that of a node, or its line where columns are unknown."""
        start, end = self._offsets(span)
        is_line = self.document.text[start:end].strip() == self.lines.line_text(span.line).strip()
        return is_line or (start, end) == (self.start(node), self.end(node))

    def indentation(self, node: Positioned) -> str:
        """Return the white space at the start of the first line of a node."""
        line = self.lines.line_text(node.lineno)
        return line[: len(line) - len(line.lstrip())]

    @property
    def newline(self) -> str:
        """The line terminator of the text."""
        first = self.document.text.find("\n")
        return "\r\n" if first > 0 and self.document.text[first - 1] == "\r" else "\n"


def python_tree(document: Document) -> PythonTree | None:
    """Return the tree of a document, parsed once; None if the text does not parse."""
    return document.derive(_tree)


def _tree(document: Document) -> PythonTree | None:
    try:
        return PythonTree(document)
    except SYNTAX_ERRORS:
        return None


_BODIES = frozenset({"block", "module"})


def statement_around(document: Document, span: Span) -> Span | None:
    """Return the simple statement that contains ``span``.

    None if only a compound statement does, as for the head of a loop.
    """
    start, end = (
        document.lines.to_bytes(span.line, span.column),
        document.lines.to_bytes(span.end_line, span.end_column),
    )
    node = document.tree.root_node.descendant_for_point_range(start, end)
    for around in () if node is None else (node, *ancestors(node)):
        if around.parent is not None and around.parent.type in _BODIES:
            return span_of(around, document.lines) if around.child_by_field_name("body") is None else None
    return None
