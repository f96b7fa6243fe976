"""Names that code reads from the surrounding module, and names that it binds.

The standard library's symtable analyses the scopes of a whole text. It takes no syntax tree, so it cannot analyse part
of a statement; it does not count ``x += 1`` and ``del x`` as uses, nor annotations under ``from __future__``; and since
Python 3.12 it mixes the variables of comprehensions with the names of the surrounding scope.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def free_names(node: ast.AST) -> set[str]:
    """Return the names that code reads from outside its own local scopes.

    A model's ``forward`` has a local ``x``: a training loop that binds an ``x`` too must not become needed by it.
    """
    if isinstance(node, ast.Name):
        return set() if isinstance(node.ctx, ast.Store) else {node.id}
    if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name):
        return {node.target.id} | free_names(node.value)
    if isinstance(node, _FUNCTIONS):
        return _of_all(_outside(node)) | (_of_all(_body(node)) - _bound_in(node))
    if isinstance(node, _COMPREHENSIONS):
        return _of_comprehension(node)
    return _of_all(ast.iter_child_nodes(node))


def stored_names(node: ast.AST) -> list[str]:
    """Return the names that code stores, such as the targets of an assignment."""
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]


def imported_names(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the names that an import binds, in the order of its aliases."""
    return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]


def _of_all(nodes: Iterable[ast.AST]) -> set[str]:
    names: set[str] = set()
    for node in nodes:
        names |= free_names(node)
    return names


def _of_comprehension(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp) -> set[str]:
    """Return the free names of a comprehension.

    What it iterates over first is evaluated outside: in ``[x for x in x]`` the last ``x`` is the module's.
    """
    first = node.generators[0].iter
    parts = [part for generator in node.generators for part in ast.iter_child_nodes(generator) if part is not first]
    results = [each for each in ast.iter_child_nodes(node) if not isinstance(each, ast.comprehension)]
    targets = {name for generator in node.generators for name in stored_names(generator.target)}
    return free_names(first) | (_of_all([*parts, *results]) - targets)


def _outside(function: ast.AST) -> Iterator[ast.AST]:
    """Yield the parts of a function that are evaluated when it is defined.

    These are decorators, defaults and annotations.
    """
    for child in ast.iter_child_nodes(function):
        if not isinstance(child, ast.stmt) and child is not getattr(function, "body", None):
            yield child


def _body(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> list[ast.AST]:
    return [function.body] if isinstance(function, ast.Lambda) else list(function.body)


def _bound_in(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> set[str]:
    """Return a function's parameters and local names, without global ones."""
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
    """Yield the nodes of a function's own scope, without nested scopes."""
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
        return imported_names(node)
    if isinstance(node, (ast.ExceptHandler, ast.MatchAs, ast.MatchStar)):
        return [node.name] if node.name else []
    return []
