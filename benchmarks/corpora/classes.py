"""The module classes of a file, and which of them have all that they need."""

from __future__ import annotations

import ast
import builtins
import importlib.util
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from fxlsp.tracing.free_names import free_names


@dataclass(frozen=True)
class BareClass:
    """A class with a ``forward`` of its own."""

    file: str
    name: str
    listed: bool
    """Whether the file's TESTCASES name it."""


def bare_classes(path: str) -> list[BareClass]:
    """The top-level classes with a ``forward`` of one file; none if it does not parse. Of one name the last counts."""
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read())
    except (SyntaxError, ValueError):
        return []
    listed = {node.elts[0].id for node in _entries(tree) if isinstance(node.elts[0], ast.Name)}
    classes = {each.name: each for each in tree.body if isinstance(each, ast.ClassDef) and each.bases}
    return [BareClass(path, name, name in listed) for name, each in classes.items() if _has_forward(each)]


def _has_forward(statement: ast.ClassDef) -> bool:
    return any(isinstance(each, ast.FunctionDef) and each.name == "forward" for each in statement.body)


def resolves(each: BareClass) -> bool:
    """Whether every name that the code of a class takes from its file is there, without packages not installed."""
    with open(each.file, encoding="utf-8") as file:
        return _resolves(each.name, _bindings(ast.parse(file.read())))


def _entries(tree: ast.Module) -> Iterator[ast.Tuple]:
    """The entries of TESTCASES."""
    for statement in tree.body:
        match statement:
            case ast.Assign([ast.Name("TESTCASES")], ast.List(entries)):
                yield from (entry for entry in entries if isinstance(entry, ast.Tuple) and entry.elts)


def _bindings(tree: ast.Module) -> dict[str, list[ast.stmt]]:
    """The top-level statements that bind each name, those in the branches of others too."""
    bound: dict[str, list[ast.stmt]] = {}
    for statement in ast.walk(ast.Module([each for each in tree.body if not isinstance(each, _SCOPES)], [])):
        if isinstance(statement, ast.stmt) and not isinstance(statement, _SCOPES):
            for name in _bound_by(statement):
                bound.setdefault(name, []).append(statement)
    for statement in tree.body:
        if isinstance(statement, _SCOPES):
            bound.setdefault(statement.name, []).append(statement)
    return bound


_SCOPES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)


def _bound_by(statement: ast.stmt) -> Iterator[str]:
    if isinstance(statement, (ast.Import, ast.ImportFrom)):
        yield from (alias.asname or alias.name.partition(".")[0] for alias in statement.names)
    else:
        yield from (
            node.id for node in ast.walk(statement) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
        )


def _resolves(name: str, bound: dict[str, list[ast.stmt]]) -> bool:
    """Whether ``name``, and each name that what binds it needs, is bound."""
    seen, open_names = {name}, [name]
    while open_names:
        current = open_names.pop()
        if hasattr(builtins, current) or current in ("__file__", "__name__"):
            continue
        statements = bound.get(current)
        if not statements:
            return False
        for statement in statements[-1:]:
            if isinstance(statement, (ast.Import, ast.ImportFrom)) and not _is_installed(statement, current):
                return False
            needed = free_names(statement) - seen
            seen |= needed
            open_names += needed
    return True


def _is_installed(statement: ast.Import | ast.ImportFrom, name: str) -> bool:
    if isinstance(statement, ast.ImportFrom):
        return not statement.level and _is_found((statement.module or "").partition(".")[0])
    return all(_is_found(each.name.partition(".")[0]) for each in statement.names if (each.asname or each.name) == name)


@cache
def _is_found(package: str) -> bool:
    return package == "_paritybench_helpers" or importlib.util.find_spec(package) is not None
