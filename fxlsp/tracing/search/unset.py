"""Attributes of a module that its constructor sets in another branch than the one it took.

Only what was guessed is guessed otherwise: that an attribute is missing by default is for the user to know.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import lru_cache
from types import CodeType, FunctionType

import torch

from .bodies import is_torchs, tree_of
from .conditions import Scope, Wanted
from .guesses import Trial

_REGISTERING = frozenset({"add_module", "register_buffer", "register_module", "register_parameter"})


def read(trial: Trial, error: BaseException) -> Iterator[Trial]:
    """Trials in which the constructor takes the branches that lead to what was not there."""
    module, name = getattr(error, "obj", None), getattr(error, "name", None)
    if not isinstance(error, AttributeError) or not isinstance(module, torch.nn.Module) or not isinstance(name, str):
        return
    for cls in type(module).__mro__:
        init = vars(cls).get("__init__")
        if isinstance(init, FunctionType) and not is_torchs(cls) and init.__code__.co_argcount > 0:
            # Its arguments are not known any more.
            scope = Scope(init.__code__, init.__globals__, {})
            for test, wanted in _conditions(init.__code__, name):
                yield from Wanted(trial, scope).that(test, wanted)


@lru_cache(maxsize=32)
def _conditions(code: CodeType, name: str) -> tuple[tuple[ast.expr, bool], ...]:
    """The conditions under which a constructor sets an attribute, and whether each should hold; none if it always does.

    Remembered, since many tries may lack the same.
    """
    ways = list(_ways(tree_of(code).body, name, code.co_varnames[0], ()))
    return () if () in ways else tuple(dict.fromkeys(each for way in ways for each in way))


_Way = tuple[tuple[ast.expr, bool], ...]


def _ways(body: list[ast.stmt], name: str, owner: str, way: _Way) -> Iterator[_Way]:
    """What holds wherever a statement sets the attribute."""
    for statement in body:
        if isinstance(statement, ast.If):
            yield from _ways(statement.body, name, owner, (*way, (statement.test, True)))
            yield from _ways(statement.orelse, name, owner, (*way, (statement.test, False)))
        elif isinstance(statement, (ast.FunctionDef, ast.For, ast.While, ast.With, ast.Try)):
            yield from _ways(statement.body, name, owner, way)
        elif any(_sets(node, name, owner) for node in ast.walk(statement)):
            yield way


def _sets(node: ast.AST, name: str, owner: str) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id=whose), attr=what, ctx=ast.Store()):
            return whose == owner and what == name
        case ast.Call(func=ast.Attribute(value=ast.Name(id=whose), attr=method), args=[ast.Constant(value=what), *_]):
            return whose == owner and method in _REGISTERING and what == name
    return False
