"""Fallbacks and reasons for names that a partial run lacks.

A script may bind a name in a branch that it takes only with command-line arguments, use a submodule that some other
import of the whole program would import, and go on without a package that it uses nevertheless.
"""

from __future__ import annotations

import ast
import importlib
from collections.abc import Iterable, Iterator
from types import ModuleType
from typing import Any

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


def error_of_import(body: Iterable[ast.stmt], name: str, path: str, namespace: dict[str, Any]) -> ImportError | None:
    """Return the error of an import in a ``try`` that should have bound a name, by importing again.

    ``body`` are the statements of the file ``path``, whose namespace stays as it is.
    """
    tried = [node for statement in body if isinstance(statement, ast.Try) for node in ast.walk(statement)]
    imports = [node for node in tried if isinstance(node, (ast.Import, ast.ImportFrom))]
    for statement in imports:
        if any(name == (each.asname or each.name.partition(".")[0]) for each in statement.names):
            try:
                exec(compile(ast.Module([statement], []), path, "exec"), dict(namespace))
            except ImportError as error:
                return error
            except Exception:
                # What else it raises is no reason why the name is not there: the code would not have gone on.
                continue
    return None


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
