"""Names that code reads from the surrounding module, and names that it binds.

The standard library's symtable analyses the scopes of a whole text. It takes no syntax tree, so it cannot analyse part
of a statement; it does not count ``x += 1`` and ``del x`` as uses, nor annotations under ``from __future__``; and since
Python 3.12 it mixes the variables of comprehensions with the names of the surrounding scope.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
_COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)
_SCOPES = frozenset((*_FUNCTIONS, *_COMPREHENSIONS, ast.ClassDef))
_WITHOUT_NODES = frozenset(
    ("id", "attr", "arg", "ctx", "op", "ops", "kind", "module", "level", "simple", "is_async", "type_comment", "asname")
)
"""Fields that never hold a node with names in it."""
_CHILDREN: dict[type[ast.AST], tuple[str, ...]] = {}
"""Fields of each kind of node that hold nodes."""


def free_names(node: ast.AST) -> set[str]:
    """Return the names that code reads from outside its own local scopes.

    A model's ``forward`` has a local ``x``: a training loop that binds an ``x`` too must not become needed by it.
    """
    names: set[str] = set()
    _collect(node, names)
    return names


def stored_names(node: ast.AST) -> list[str]:
    """Return the names that code stores, such as the targets of an assignment."""
    return [each.id for each in ast.walk(node) if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store)]


def children(node: ast.AST) -> list[ast.AST]:
    """Return the nodes directly below a node, without contexts and operators.

    Several times faster than :func:`ast.iter_child_nodes`; whole packages are read by it.
    """
    kind = type(node)
    fields = _CHILDREN.get(kind)
    if fields is None:
        fields = () if kind is ast.Constant else tuple(each for each in node._fields if each not in _WITHOUT_NODES)
        _CHILDREN[kind] = fields
    found: list[ast.AST] = []
    for field in fields:
        value = getattr(node, field, None)
        if type(value) is list:
            found += [each for each in value if isinstance(each, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def imported_names(node: ast.Import | ast.ImportFrom) -> list[str]:
    """Return the names that an import binds, in the order of its aliases."""
    return [(alias.asname or alias.name).partition(".")[0] for alias in node.names]


def _collect(node: ast.AST, names: set[str]) -> None:
    """Add the free names of a node to ``names``."""
    special = _COLLECTORS.get(type(node))
    if special is not None:
        special(node, names)
        return
    for child in children(node):
        _collect(child, names)


def _collect_name(node: ast.Name, names: set[str]) -> None:
    if type(node.ctx) is not ast.Store:
        names.add(node.id)


def _collect_augmented(node: ast.AugAssign, names: set[str]) -> None:
    if isinstance(node.target, ast.Name):
        names.add(node.target.id)
    else:
        _collect(node.target, names)
    _collect(node.value, names)


def _collect_function(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, names: set[str]) -> None:
    body = [node.body] if isinstance(node, ast.Lambda) else node.body
    inside = {id(each) for each in body}
    for child in children(node):
        # Decorators, defaults and annotations are evaluated when the function is defined.
        if id(child) not in inside:
            _collect(child, names)
    names |= _of_all(body) - _bound_in(node, body)


def _collect_comprehension(node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, names: set[str]) -> None:
    """Add the free names of a comprehension.

    What it iterates over first is evaluated outside: in ``[x for x in x]`` the last ``x`` is the module's.
    """
    first = node.generators[0].iter
    _collect(first, names)
    parts = [part for generator in node.generators for part in children(generator) if part is not first]
    results = [each for each in children(node) if not isinstance(each, ast.comprehension)]
    targets = {name for generator in node.generators for name in stored_names(generator.target)}
    names |= _of_all([*parts, *results]) - targets


_COLLECTORS: dict[type[ast.AST], Callable[..., None]] = {
    ast.Name: _collect_name,
    ast.AugAssign: _collect_augmented,
    **dict.fromkeys(_FUNCTIONS, _collect_function),
    **dict.fromkeys(_COMPREHENSIONS, _collect_comprehension),
}


def _of_all(nodes: Iterable[ast.AST]) -> set[str]:
    names: set[str] = set()
    for node in nodes:
        _collect(node, names)
    return names


def _bound_in(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, body: Iterable[ast.AST]) -> set[str]:
    """Return a function's parameters and local names, without global ones."""
    arguments = function.args
    parameters = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    bound = {parameter.arg for parameter in parameters if parameter is not None}
    declared_global: set[str] = set()
    waiting = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Global):
            declared_global.update(node.names)
        else:
            bound.update(_binds(node))
        if type(node) not in _SCOPES:
            waiting += children(node)
    return bound - declared_global


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
