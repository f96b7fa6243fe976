"""Syntax nodes for the byte ranges that CPython reports for instructions.

``code.co_positions()`` reports a method call in a chain from the attribute's name if that is on a line of its own, and
an unpacking by its targets. The expression to show is the smallest syntax node of a kind that can create FX nodes, that
ends where CPython's range ends and contains its start.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import NamedTuple

from .sources import Sources

_EXPRESSIONS = (ast.Call, ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.Subscript, ast.Attribute)
_TARGETS = (ast.Tuple, ast.List, ast.Starred, ast.Name)


class ByteSpan(NamedTuple):
    """Source range as in CPython: lines from 1, columns from 0 in UTF-8 bytes.

    The end is exclusive.
    """

    line: int
    column: int
    end_line: int
    end_column: int


class Expressions:
    """Syntax trees of the files that this process runs, searchable by range."""

    def __init__(self, sources: Sources) -> None:
        self._sources = sources
        self._trees: dict[str, ast.Module | None] = {}

    def tree(self, path: str) -> ast.Module | None:
        """Return the syntax tree of a file; None if it has no text or does not parse."""
        if path not in self._trees:
            try:
                self._trees[path] = None if self._sources.text(path) is None else self._parse(path)
            except (SyntaxError, ValueError, RecursionError):
                self._trees[path] = None
        return self._trees[path]

    def parsed(self, path: str) -> ast.Module:
        """Return the syntax tree of a file, empty if there is no text.

        Raises:
            SyntaxError: the text does not parse.
        """
        tree = self._trees.get(path) or self._parse(path)
        self._trees[path] = tree
        return tree

    def invalidate(self, path: str) -> None:
        """Drop the syntax tree of a file whose text has changed."""
        self._trees.pop(path, None)

    def _parse(self, path: str) -> ast.Module:
        return ast.parse((self._sources.text(path) or "").removeprefix("\ufeff"), path)

    def enclosing(self, path: str, place: ByteSpan) -> ast.AST | None:
        """Return the smallest syntax node for a range that can create FX nodes.

        The node ends where ``place`` ends and contains its start.
        """
        statement = self.statement_at(path, place.line, place.column)
        if statement is None:
            return None
        best: ast.AST | None = None
        for node in _own_nodes(statement):
            if not _makes_nodes(node):
                continue
            span = span_of(node)
            if (span.end_line, span.end_column) != (place.end_line, place.end_column):
                continue
            if (span.line, span.column) > (place.line, place.column):
                continue
            if best is None or span[:2] >= span_of(best)[:2]:
                best = node
        return best

    def formatted(self, path: str, place: ByteSpan) -> ByteSpan | None:
        """Return the span of the f-string that contains the ``{value}`` at ``place``.

        CPython 3.12 and later report the position of the ``{value}`` alone.
        """
        statement = self.statement_at(path, place.line, place.column)
        for node in () if statement is None else _own_nodes(statement):
            if isinstance(node, ast.JoinedStr) and any(
                isinstance(part, ast.FormattedValue) and span_of(part) == place for part in node.values
            ):
                return span_of(node)
        return None

    def iterated(self, path: str, place: ByteSpan, loop: int, given: str) -> ByteSpan | None:
        """Return the span that a loop, comprehension or ``yield from`` iterates over.

        ``place`` is the span of the whole construct, body included. For a comprehension, ``loop`` is the index of the
        loop; it is increased by one if the comprehension is compiled to the function named ``given``, to which the
        caller passes the first iterator. None for anything else.
        """
        for node in self._at(path, place):
            match node:
                case ast.For():
                    return span_of(node.iter)
                case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                    loop += given == _FUNCTIONS[type(node)]
                    return span_of(node.generators[loop].iter) if loop < len(node.generators) else None
                case ast.YieldFrom():
                    return span_of(node.value)
        return None

    def entered(self, path: str, place: ByteSpan) -> ByteSpan | None:
        """Return the span of the context managers of the ``with`` at ``place``.

        ``place`` is the span of the whole statement, body included. None for anything else.
        """
        for node in self._at(path, place):
            if isinstance(node, ast.With):
                entered = [span_of(item.context_expr) for item in node.items]
                return ByteSpan(*entered[0][:2], *entered[-1][2:])
        return None

    def _at(self, path: str, place: ByteSpan) -> Iterator[ast.AST]:
        """Yield the nodes of the innermost statement at ``place`` with exactly its span."""
        statement = self.statement_at(path, place.line, place.column)
        for node in () if statement is None else _own_nodes(statement):
            if getattr(node, "lineno", None) is not None and span_of(node) == place:
                yield node

    def name_at(self, path: str, place: ByteSpan) -> ast.Name | None:
        """Return the variable at ``place``; None for anything else."""
        return next((node for node in self._at(path, place) if isinstance(node, ast.Name)), None)

    def conditions(self, statement: ast.stmt, place: ByteSpan) -> list[ast.expr]:
        """Return the expressions that the jumps of the condition at ``place`` test, in their order.

        These are the parts of an ``if``, ``while``, ``assert``, conditional expression or comprehension that are no
        comparisons, or all operands but the last of ``and`` or ``or``. CPython 3.11 gives the jumps behind a
        comparison the span of that comparison: there it is first, followed by those behind it.
        """
        for node in _own_nodes(statement):
            tests = _tests_of(node)
            if tests and span_of(node) == place:
                return [part for test in tests for part in _jumped_on(test) if not isinstance(part, ast.Compare)]
            if isinstance(node, ast.BoolOp) and span_of(node) == place:
                return node.values[:-1]
            if _COMPARES_LEAK:
                behind = _behind_comparison([part for test in tests for part in _jumped_on(test)], place)
                if len(behind) > 1:
                    return behind
        return []

    def tests_at(self, path: str, line: int) -> Iterator[ByteSpan]:
        """Yield the spans of what conditions test that begins on a line: ``x > 0`` of ``if not (x > 0 and y)``.

        The whole ``not x`` is among them: CPython 3.13 gives its span to the test of ``x``.
        """
        tree = self.tree(path)
        for node in () if tree is None else ast.walk(tree):
            found = [part for test in _asked_of(node) for part in _jumped_on(test)]
            negated = [node] if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not) else []
            yield from (span_of(part) for part in (*negated, *found) if part.lineno == line)

    def statement_at(self, path: str, line: int, column: int | None = None) -> ast.stmt | None:
        """Return the innermost statement that contains a line, decorators included.

        ``column``, from 0 in bytes, selects one of several statements on the line.
        """
        statements = self.statements_at(path, line, column)
        return statements[-1] if statements else None

    def statements_at(self, path: str, line: int, column: int | None = None) -> list[ast.stmt]:
        """Return the statements that contain a line, outermost first."""
        tree = self.tree(path)
        found: list[ast.stmt] = []
        inner = None if tree is None else _statement_in(tree, line, column)
        while inner is not None:
            found.append(inner)
            inner = _statement_in(inner, line, column)
        return found

    def definition(self, path: str, qualname: str) -> _Definition | None:
        """Return the last ``class`` or ``def`` with a qualified name.

        That is the one that Python binds.
        """
        scope: ast.AST | None = self.tree(path)
        for name in qualname.split("."):
            if scope is None:
                return None
            named = [node for node in _child_statements(scope) if getattr(node, "name", None) == name]
            scope = named[-1] if named else None
        return scope if isinstance(scope, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) else None

    def function_at(self, path: str, name: str, first_line: int) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
        """Return the ``def`` whose code object has this name and first line.

        The first line is that of the first decorator, if there is one.
        """
        tree = self.tree(path)
        statement: ast.AST | None = None if tree is None else _statement_in(tree, first_line)
        while statement is not None:
            match statement:
                case ast.FunctionDef() | ast.AsyncFunctionDef() if statement.name == name:
                    if _first_line(statement) == first_line:
                        return statement
            statement = _statement_in(statement, first_line)
        return None


def span_of(node: ast.AST) -> ByteSpan:
    """Return the range of an expression, statement or argument."""
    # All of these have end positions since Python 3.8.
    return ByteSpan(node.lineno, node.col_offset, node.end_lineno, node.end_col_offset)  # type: ignore[attr-defined]


_Definition = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
_FUNCTIONS: dict[type[ast.AST], str] = {
    ast.ListComp: "<listcomp>",
    ast.SetComp: "<setcomp>",
    ast.DictComp: "<dictcomp>",
    ast.GeneratorExp: "<genexpr>",
}
"""Function names of comprehensions that are compiled to functions."""
_KEYWORDS = {ast.FunctionDef: "def ", ast.AsyncFunctionDef: "async def ", ast.ClassDef: "class "}


def name_span(definition: _Definition) -> ByteSpan:
    """Return the span of the name in a ``def`` or ``class`` statement.

    One space is assumed before the name.
    """
    start = definition.col_offset + len(_KEYWORDS[type(definition)])
    return ByteSpan(definition.lineno, start, definition.lineno, start + len(definition.name.encode()))


def _makes_nodes(node: ast.AST) -> bool:
    if isinstance(node, _EXPRESSIONS):
        return True
    if isinstance(node, ast.AugAssign):
        return True
    return isinstance(node, _TARGETS) and isinstance(node.ctx, ast.Store)


_COMPARES_LEAK = sys.version_info < (3, 12)


def _tests_of(node: ast.AST) -> list[ast.expr]:
    """Return the conditions of a statement or expression that are compiled to jumps."""
    match node:
        case ast.If() | ast.While() | ast.Assert() | ast.IfExp():
            return [node.test]
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return [test for generator in node.generators for test in generator.ifs]
    return []


def _asked_of(node: ast.AST) -> list[ast.expr]:
    """Return the expressions that a node asks whether they are true, where nothing else asks."""
    match node:
        case ast.BoolOp():
            return node.values[:-1]
        case ast.UnaryOp(op=ast.Not()):
            return [node.operand]
        case ast.match_case(guard=ast.expr() as guard):
            return [guard]
    return _tests_of(node)


def _jumped_on(test: ast.expr) -> Iterator[ast.expr]:
    """Yield what a condition's jumps test, a chained comparison as often as it has jumps.

    A constant has none.
    """
    match test:
        case ast.BoolOp():
            for value in test.values:
                yield from _jumped_on(value)
        case ast.UnaryOp(op=ast.Not()):
            yield from _jumped_on(test.operand)
        case ast.Compare():
            yield from [test] * len(test.ops)
        case ast.Constant():
            pass
        case _:
            yield test


def _behind_comparison(parts: list[ast.expr], place: ByteSpan) -> list[ast.expr]:
    """Return the comparison at ``place`` and the parts from it to the next one."""
    start = next((i for i, part in enumerate(parts) if isinstance(part, ast.Compare) and span_of(part) == place), None)
    if start is None:
        return []
    following = (
        i for i in range(start, len(parts)) if isinstance(parts[i], ast.Compare) and parts[i] is not parts[start]
    )
    return parts[start : next(following, len(parts))]


def _own_nodes(statement: ast.stmt) -> Iterator[ast.AST]:
    """Yield the nodes of a statement outside the statements nested in it."""
    stack: list[ast.AST] = [statement]
    while stack:
        node = stack.pop()
        yield node
        stack.extend(child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.stmt))


def _statement_in(parent: ast.AST, line: int, column: int | None = None) -> ast.stmt | None:
    """Return the statement directly below ``parent`` that contains ``line``.

    If there are several on the line, it is the one that contains ``column``.
    """
    for child in _child_statements(parent):
        is_elsewhere = _ends_before(child, line, column) or _starts_after(child, line, column)
        if _first_line(child) <= line <= (child.end_lineno or child.lineno) and not is_elsewhere:
            return child
    return None


def _starts_after(statement: ast.stmt, line: int, column: int | None) -> bool:
    """Return whether a statement starts on ``line`` after ``column``: ``x = 1`` of ``if test: x = 1`` for its test."""
    return column is not None and statement.lineno == line and statement.col_offset > column


def _ends_before(statement: ast.stmt, line: int, column: int | None) -> bool:
    """Return whether a statement ends on ``line`` at or before ``column``."""
    return column is not None and statement.end_lineno == line and (statement.end_col_offset or 0) <= column


def _child_statements(parent: ast.AST) -> Iterator[ast.stmt]:
    for child in ast.iter_child_nodes(parent):
        if isinstance(child, ast.stmt):
            yield child
        elif isinstance(child, (ast.ExceptHandler, ast.match_case)):
            yield from child.body


def _first_line(statement: ast.stmt) -> int:
    decorators: list[ast.expr] = getattr(statement, "decorator_list", [])
    return min([statement.lineno, *(decorator.lineno for decorator in decorators)])
