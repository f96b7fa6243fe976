"""Python's own tree of a text, with parents, and places as offsets: what edits of a program are made with.

tree-sitter reads text that does not parse; an edit is made to text that does, and Python's tree tells more of it.
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
    """The tree of one document."""

    def __init__(self, document: Document) -> None:
        """Parses the document.

        Raises:
            SYNTAX_ERRORS: it does not parse.
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
        """What the node is a part of; None of the module."""
        return self._parents.get(node)

    def ancestors(self, node: ast.AST) -> Iterator[ast.AST]:
        """What the node is a part of, innermost first."""
        parent = self._parents.get(node)
        while parent is not None:
            yield parent
            parent = self._parents.get(parent)

    def start(self, node: Positioned) -> int:
        """The offset at which a node starts."""
        return self.lines.offset(*self.lines.from_bytes(node.lineno - 1, node.col_offset))

    def end(self, node: Positioned) -> int:
        """The offset at which a node ends."""
        if node.end_lineno is None or node.end_col_offset is None:
            return self.start(node)
        return self.lines.offset(*self.lines.from_bytes(node.end_lineno - 1, node.end_col_offset))

    def text(self, node: Positioned) -> str:
        """The node as written, without brackets around it."""
        return self.document.text[self.start(node) : self.end(node)]

    def function_of(self, node: ast.AST) -> Function | None:
        """The innermost ``def`` whose body holds the node."""
        return next((each for each in self.ancestors(node) if isinstance(each, Function)), None)

    def class_of(self, function: ast.AST) -> ast.ClassDef | None:
        """The class whose method the function is."""
        parent = self._parents.get(function)
        while isinstance(parent, ast.If | ast.Try | ast.With):
            parent = self._parents.get(parent)
        return parent if isinstance(parent, ast.ClassDef) else None

    def node_at(self, span: Span, *kinds: type[T]) -> T | None:
        """The node of a kind that a span means: the very span, else the only one inside it, else the innermost
        around it. Where there are no columns (Python 3.10) a span is a line, and may hold several: then none."""
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
        """Where a span starts and ends, without the blanks around what it covers."""
        start, end = self.lines.offset(span.line, span.column), self.lines.offset(span.end_line, span.end_column)
        text = self.document.text[start:end]
        return start + len(text) - len(text.lstrip()), end - len(text) + len(text.rstrip())

    def _on_lines(self, span: Span) -> Iterator[Positioned]:
        """The nodes that share a line with a span."""
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
        """Whether a node and a span have more in common than an end: the one lies in the other."""
        start, end = self._offsets(span)
        first, last = self.start(node), self.end(node)
        return (first <= start and end <= last) or (start <= first and last <= end)

    def is_at(self, node: Positioned, span: Span) -> bool:
        """Whether a span is just the node, or the line of it where there are no columns."""
        start, end = self._offsets(span)
        is_line = self.document.text[start:end].strip() == self.lines.line_text(span.line).strip()
        return is_line or (start, end) == (self.start(node), self.end(node))

    def indentation(self, node: Positioned) -> str:
        """The blanks at the start of the node's line."""
        line = self.lines.line_text(node.lineno)
        return line[: len(line) - len(line.lstrip())]

    @property
    def newline(self) -> str:
        """How the text ends its lines."""
        first = self.document.text.find("\n")
        return "\r\n" if first > 0 and self.document.text[first - 1] == "\r" else "\n"


def python_tree(document: Document) -> PythonTree | None:
    """The tree of a document, made once; None if the text does not parse."""
    return document.derive(_tree)


def _tree(document: Document) -> PythonTree | None:
    try:
        return PythonTree(document)
    except SYNTAX_ERRORS:
        return None


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
