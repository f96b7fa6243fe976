"""What a name would be in a branch that was not taken: a script chooses by arguments that nobody gave it."""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable, Iterator
from types import ModuleType

from .scopes import stored_names


def untaken_bindings(body: Iterable[ast.stmt], name: str) -> Iterator[ast.stmt]:
    """The assignments of ``name`` inside the ``if`` statements of a file, in its order: one for each choice."""
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
    """Whether an attribute of a package that was missed is a module of it, which is imported now.

    In a program that runs as a whole, a statement may have imported it that is not needed here.
    """
    if not isinstance(error, AttributeError) or not isinstance(error.obj, ModuleType):
        return False
    if error.name is None or not hasattr(error.obj, "__path__") or hasattr(error.obj, error.name):
        return False
    try:
        importlib.import_module(f"{error.obj.__name__}.{error.name}")
    except Exception:
        # Whatever it raises: the first error is the one to tell.
        return False
    return hasattr(error.obj, error.name)
