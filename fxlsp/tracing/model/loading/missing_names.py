"""Fallbacks for names that a partial run lacks.

A script may bind a name in a branch that it takes only with command-line arguments, and use a submodule that some other
import of the whole program would import.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable, Iterator
from types import ModuleType

from .scopes import stored_names


def untaken_bindings(body: Iterable[ast.stmt], name: str) -> Iterator[ast.stmt]:
    """Yield the assignments of a name inside ``if`` statements, in order."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _bindings((*statement.body, *statement.orelse), name)


def _bindings(body: Iterable[ast.stmt], name: str) -> Iterator[ast.stmt]:
    for statement in body:
        if isinstance(statement, ast.Assign) and any(name in stored_names(target) for target in statement.targets):
            yield statement
        elif isinstance(statement, (ast.If, ast.With, ast.Try)):
            yield from _bindings(statement.body, name)
            yield from _bindings(getattr(statement, "orelse", ()), name)


def import_missing_submodule(error: BaseException) -> bool:
    """Import the submodule that an AttributeError misses; return whether it exists.

    In a complete run of the program, a statement that is not needed here may have imported it.
    """
    if not isinstance(error, AttributeError) or not isinstance(error.obj, ModuleType):
        return False
    if error.name is None or not hasattr(error.obj, "__path__") or hasattr(error.obj, error.name):
        return False
    try:
        importlib.import_module(f"{error.obj.__name__}.{error.name}")
    except Exception:
        # Whatever the import raises, the first error is the one to report.
        return False
    return hasattr(error.obj, error.name)
