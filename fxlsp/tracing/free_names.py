"""Which names a piece of code takes from the module around it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def free_names(node: ast.AST) -> set[str]:
    """Names that ``node`` reads and does not bind in a function or comprehension of its own.

    A model's ``forward`` has an ``x`` of its own: that a training loop binds an ``x`` too must not make it needed.
    """
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Store) else {node.id}
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return {node.target.id} | free_names(node.value)
    if isinstance(node, _FUNCTIONS):
        return _of_all(_outside(node)) | (_of_all(_body(node)) - _bound_in(node))
    if isinstance(node, _COMPREHENSIONS):
        targets = {name for generator in node.generators for name in _stored(generator.target)}
        return _of_all(ast.iter_child_nodes(node)) - targets
    return _of_all(ast.iter_child_nodes(node))


def _of_all(nodes: Iterable[ast.AST]) -> set[str]:
    names: set[str] = set()
    for node in nodes:
        names |= free_names(node)
    return names


def _outside(function: ast.AST) -> Iterator[ast.AST]:
    """What is evaluated where a function is defined: decorators, defaults, annotations."""
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.stmt) and child is not getattr(function, "body", None):
            yield child


def _body(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else list(function.body)


def _bound_in(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """Parameters and local names; not what the function declares global."""
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    bound = {parameter.arg for parameter in parameters if parameter is not None}
    declared_global: set[str] = set()
    for node in _own_scope(_body(function)):
        bound.update(_binds(node))
        if isinstance(node, ast.Global):
            declared_global.update(node.names)
    return bound - declared_global


def _own_scope(nodes: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of a function's body outside functions, classes and comprehensions nested in it."""
    for node in nodes:
        yield node
        if not isinstance(node, (*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef)):
            yield from _own_scope(ast.iter_child_nodes(node))


def _binds(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
        return [node.id]
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        return [node.name]
    if isinstance(node, (ast.Import, ast.ImportFrom)):
        return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    return []


def _stored(target: ast.expr) -> list[str]:
    return [node.id for node in ast.walk(target) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)]
