"""Expressions that assign, change or read an attribute, global or container."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from .executed_functions import ExecutedFunction, ExecutedFunctions

_CHANGING = frozenset(
    (
        *("append", "appendleft", "extend", "extendleft", "insert", "add", "update", "setdefault", "push", "put"),
        *("pop", "popleft", "popitem", "remove", "discard", "clear", "register", "store", "set"),
    )
)


@dataclass(frozen=True)
class AttributeUse:
    """Expression or statement of a function that uses a given object."""

    function: ExecutedFunction
    node: ast.expr | ast.stmt

    @property
    def start(self) -> tuple[int, int]:
        return (self.node.lineno, self.node.col_offset)


def assignments(executed: ExecutedFunctions, owner: Any, name: str) -> list[AttributeUse]:
    """Return the targets that assign an attribute of ``owner``.

    If ``owner`` is a Python module, that is a global.
    """
    return [AttributeUse(function, node) for function, node in _references(executed, owner, name, (ast.Store, ast.Del))]


def reads(executed: ExecutedFunctions, owner: Any, name: str) -> list[AttributeUse]:
    """Return the expressions that read an attribute or global.

    ``hasattr`` and ``getattr`` are included, targets of ``+=`` are not.
    """
    found = [AttributeUse(function, node) for function, node in _references(executed, owner, name, (ast.Load,))]
    for function in executed.reachable:
        for call in function.parts(ast.Call):
            match call:
                case ast.Call(func=ast.Name(id="hasattr" | "getattr"), args=[of, ast.Constant(value=named), *_]):
                    if named == name and _is(function, of, owner):
                        found.append(AttributeUse(function, call))
    return found


def changes_of(executed: ExecutedFunctions, container: Any) -> list[AttributeUse]:
    """Return the expressions that change the contents of ``container``.

    Where none is found, those that read it.
    """
    found: list[AttributeUse] = []
    for function in executed.reachable:
        found += [AttributeUse(function, node) for node, of in _changing(function) if _is(function, of, container)]
    return found or [
        AttributeUse(function, node)
        for function in executed.reachable
        for node in function.parts(ast.Attribute)
        if isinstance(node.ctx, ast.Load) and _is(function, node, container)
    ]


def clears(use: AttributeUse) -> bool:
    """Return whether a change of a container empties it."""
    return isinstance(use.node, ast.Call) and isinstance(use.node.func, ast.Attribute) and use.node.func.attr == "clear"


def _changing(function: ExecutedFunction) -> Iterator[tuple[ast.expr | ast.stmt, ast.expr]]:
    """Yield the expressions that change a container, each with the container's."""
    for call in function.parts(ast.Call):
        if isinstance(call.func, ast.Attribute) and call.func.attr in _CHANGING:
            yield call, call.func.value
    for item in function.parts(ast.Subscript):
        if not isinstance(item.ctx, ast.Load):
            yield item, item.value
    for statement in function.parts(ast.AugAssign):
        if isinstance(statement.target, (ast.Name, ast.Attribute)):
            yield statement, statement.target


def _references(
    executed: ExecutedFunctions, owner: Any, name: str, contexts: tuple[type[ast.expr_context], ...]
) -> Iterator[tuple[ExecutedFunction, ast.expr]]:
    for function in executed.reachable:
        if isinstance(owner, ModuleType):
            if function.is_global_of(owner, name):
                yield from ((function, node) for node in function.parts(ast.Name) if _named(node, name, contexts))
        elif function.mentions(name):
            for node in function.parts(ast.Attribute):
                if node.attr == name and isinstance(node.ctx, contexts) and _is(function, node.value, owner):
                    yield function, node


def _named(node: ast.Name, name: str, contexts: tuple[type[ast.expr_context], ...]) -> bool:
    return node.id == name and isinstance(node.ctx, contexts)


def _is(function: ExecutedFunction, expression: ast.expr, wanted: object) -> bool:
    if function.resolve(expression) is wanted:
        return True
    return any(function.resolve(expression, module) is wanted for module in function.modules.values())
