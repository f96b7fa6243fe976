"""Bindings of the names of a file, and names in its code that do not exist.

Names that are taken from modules by attribute are names like others: ``numpy.cumproduct``, which NumPy has removed, and
``layers.Block`` where ``layers`` refers to a module of the same project, as in generated files.
"""

from __future__ import annotations

import ast
import builtins
import importlib.util
from collections.abc import Iterator, Sequence
from functools import cache

from benchmarks.corpora.modules import holds
from fxlsp.tracing.model.loading.scopes import free_names

_SCOPES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
_IMPORTS = (ast.Import, ast.ImportFrom)
_OF_MODULES = ("__file__", "__name__")
_HELPER = "_paritybench_helpers"


class Bindings:
    """The top-level statements of a file, by the names that they bind."""

    def __init__(self, tree: ast.Module) -> None:
        self._bound: dict[str, list[ast.stmt]] = {}
        """Those in branches of other statements too."""
        self._in_any_case = {id(statement) for statement in tree.body}
        for statement in ast.walk(ast.Module([each for each in tree.body if not isinstance(each, _SCOPES)], [])):
            if isinstance(statement, ast.stmt) and not isinstance(statement, _SCOPES):
                for name in _bound_by(statement):
                    self._bound.setdefault(name, []).append(statement)
        for statement in tree.body:
            if isinstance(statement, _SCOPES):
                self._bound.setdefault(statement.name, []).append(statement)

    def unresolved(self, name: str) -> str | None:
        """Return a name that does not exist; None if all exist.

        Checked are ``name`` and all names that its binding needs.
        """
        seen, open_names = {name}, [name]
        while open_names:
            current = open_names.pop()
            if hasattr(builtins, current) or current in _OF_MODULES:
                continue
            statements = self._bound.get(current)
            if not statements or self._fails(statements, current):
                return current
            needed = free_names(statements[-1])
            for dotted in _dotted_names(statements[-1], needed):
                own = self._own_name(dotted)
                if own is not None:
                    needed.add(own)
                elif not self._holds(dotted):
                    return ".".join(dotted)
            open_names += needed - seen
            seen |= needed
        return None

    def _fails(self, statements: list[ast.stmt], name: str) -> bool:
        """Return whether ``name`` is an import that fails.

        What it is imported from is not installed, or has no such name.
        """
        last = statements[-1]
        return isinstance(last, _IMPORTS) and not (_is_installed(last, name) and self._holds((name,)))

    def _own_name(self, dotted: Sequence[str]) -> str | None:
        """Return the name of the file that ``dotted`` refers to.

        None unless it starts with a name for the file's own module.
        """
        names = list(dotted)
        while len(names) > 1 and self._is_own_module(names[0]):
            names.pop(0)
        return None if len(names) == len(dotted) or names[0].startswith("__") else names[0]

    def _is_own_module(self, name: str) -> bool:
        match self._bound.get(name, [])[-1:]:
            case [ast.Assign(targets=[ast.Name()], value=ast.Name(id=other))] if other != name:
                return self._is_own_module(other)
            case [ast.Assign(targets=[ast.Name()], value=value)]:
                return ast.unparse(value) == "sys.modules[__name__]"
        return False

    def _holds(self, dotted: Sequence[str]) -> bool:
        """Return whether an attribute exists that is taken from an imported module.

        The first name is that of the module.
        """
        statements = self._bound.get(dotted[0], [])
        if any(id(statement) not in self._in_any_case for statement in statements):
            # An import under a condition, or in a `try`, may name things that do not exist.
            return True
        match statements[-1:]:
            case [ast.Import(names=aliases)]:
                taken = next(each for each in aliases if _name_of(each) == dotted[0])
                start = taken.name if taken.asname else dotted[0]
                return holds(taken.name, ()) and holds(start, dotted[1:])
            case [ast.ImportFrom(module=str(module), names=aliases, level=0)] if module != _HELPER:
                taken = next(each for each in aliases if _name_of(each) == dotted[0])
                return holds(module, (taken.name, *dotted[1:]))
        return True


def _name_of(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, _IMPORTS):
        yield from map(_name_of, statement.names)
    else:
        yield from (
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )


def _dotted_names(statement: ast.stmt, free: set[str]) -> Iterator[tuple[str, ...]]:
    """Yield ``numpy.random.rand`` for what is read so.

    Its first name is one that ``statement`` takes from the file, and binds nowhere.
    """
    nodes = list(ast.walk(statement))
    local = {node.id for node in nodes if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load)}
    local |= {node.arg for node in nodes if isinstance(node, ast.arg)}
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load):
            names = _dotted(node)
            if names and names[0] in free - local:
                yield names


def _dotted(node: ast.expr) -> tuple[str, ...]:
    """Return the names of ``a.b.c``; none for what is not a chain of names."""
    match node:
        case ast.Name(id=name):
            return (name,)
        case ast.Attribute(value=value, attr=name) if inner := _dotted(value):
            return (*inner, name)
    return ()


def _is_installed(statement: ast.Import | ast.ImportFrom, name: str) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return not statement.level and _is_found((statement.module or "").partition(".")[0])
    return all(_is_found(each.name.partition(".")[0]) for each in statement.names if _name_of(each) == name)


@cache
def _is_found(package: str) -> bool:
    return package == _HELPER or importlib.util.find_spec(package) is not None
