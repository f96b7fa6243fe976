"""What a name would be in a branch that was not taken: a script chooses by arguments that nobody gave it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

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
