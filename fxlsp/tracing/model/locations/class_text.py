"""Methods of a class in the text of the workspace, and what they do with attributes of ``self``."""

from __future__ import annotations

import ast
import inspect
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from types import CodeType, FunctionType, MethodType

from ....report.locations import Location
from .bytecode.spans import HAS_COLUMNS
from .code_origin import is_workspace_code
from .expressions import span_of
from .source_map import SourceMap

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Method:
    """Method of a class, with its syntax."""

    cls: type
    code: CodeType
    definition: Function
    source_map: SourceMap

    @property
    def name(self) -> str:
        return self.definition.name

    @cached_property
    def self_name(self) -> str | None:
        """Name of the instance inside the method, usually ``self``."""
        arguments = self.definition.args
        first = [*arguments.posonlyargs, *arguments.args][:1]
        is_bound = not isinstance(self.cls.__dict__.get(self.name), staticmethod)
        return first[0].arg if first and is_bound else None

    @cached_property
    def nodes(self) -> list[ast.AST]:
        """Syntax nodes of the body, nested functions included, in source order."""
        nodes: list[ast.AST] = []
        # Decorators and defaults run when the function is defined.
        waiting: list[ast.AST] = list(reversed(self.definition.body))
        while waiting:
            node = waiting.pop()
            nodes.append(node)
            waiting.extend(reversed(list(ast.iter_child_nodes(node))))
        return nodes

    def attributes(self, context: type[ast.expr_context]) -> Iterator[ast.Attribute]:
        """Yield the ``self.name`` of the body that are read, assigned or deleted."""
        for node in self.nodes:
            if isinstance(node, ast.Attribute) and isinstance(node.ctx, context) and self.is_own(node):
                yield node

    def is_own(self, node: ast.AST, name: str | None = None) -> bool:
        """Return whether an expression is ``self.name``; of any name if that is None."""
        return (
            isinstance(node, ast.Attribute)
            and isinstance(node.value, ast.Name)
            and node.value.id == self.self_name
            and name in (None, node.attr)
        )

    def mentions(self, *names: str) -> bool:
        """Return whether the body uses a variable, attribute or text of one of these names."""
        return any(
            (isinstance(node, ast.Name) and node.id in names)
            or (isinstance(node, ast.Attribute) and node.attr in names)
            or (isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value in names)
            for node in self.nodes
        )

    def location(self, node: ast.AST) -> Location:
        """Return the location of a syntax node of the method."""
        if not HAS_COLUMNS:
            return self.source_map.line(self.code.co_filename, span_of(node).line, self.code.co_name)
        return self.source_map.location(self.code.co_filename, span_of(node), self.code.co_name)


def methods_of(cls: type, source_map: SourceMap) -> list[Method]:
    """Return the methods that the workspace defines for a class and its bases.

    The class's own come first; overridden ones are included.
    """
    return [
        method
        for each in cls.__mro__
        for value in list(vars(each).values())
        if (method := _method(each, value, source_map)) is not None
    ]


def _method(cls: type, value: object, source_map: SourceMap) -> Method | None:
    code = code_of(value)
    if code is None or not is_workspace_code(code.co_filename) or not source_map.is_shown(code.co_filename):
        return None
    definition = source_map.expressions.function_at(code.co_filename, code.co_name, code.co_firstlineno)
    return None if definition is None else Method(cls, code, definition, source_map)


def codes_within(code: CodeType) -> Iterator[CodeType]:
    """Yield the code of a function and of all that it defines, with what comprehensions are before Python 3.12."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from codes_within(constant)


def local_names(code: CodeType) -> tuple[str, ...]:
    """Return the names of a function's variables, with those of functions around it that it uses."""
    return (*code.co_varnames, *code.co_cellvars, *code.co_freevars)


def code_of(called: object) -> CodeType | None:
    """Return the code of a function below decorators, of a method or a property."""
    if isinstance(called, property):
        called = called.fget
    if isinstance(called, (staticmethod, classmethod, MethodType)):
        called = called.__func__
    if isinstance(called, partial):
        called = called.func
    if not isinstance(called, FunctionType):
        return None
    return getattr(inspect.unwrap(called), "__code__", None)


def tree_of(file: str) -> ast.Module:
    """Return the syntax tree of a file; an empty one if it cannot be read."""
    try:
        return ast.parse("".join(linecache.getlines(file)))
    except (SyntaxError, ValueError):
        return ast.Module([], [])


def function_at(tree: ast.Module, line: int, name: str) -> Function | None:
    """Return the innermost function of a name that contains a line."""
    found = None
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or node.name != name:
            continue
        if node.lineno <= line <= (node.end_lineno or 0):
            found = node
    return found
