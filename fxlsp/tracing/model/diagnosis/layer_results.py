"""Layers of torch that return a tuple whatever they are given, where one is used as if it returned a tensor."""

from __future__ import annotations

import ast
from inspect import getattr_static

import torch

from ..locations.class_text import code_of, methods_of
from ..locations.source_map import SourceMap

_OF_TUPLES = (torch.nn.MultiheadAttention, torch.nn.LSTM, torch.nn.GRU, torch.nn.RNN, torch.nn.LSTMCell)
"""They return their result, and the weights or the state."""
_CODES = frozenset(code_of(each.forward) for each in _OF_TUPLES)


def sequence_headline(what: str, kind: type, by: str, line: int | None) -> str:
    """Return one line about an operand that is the tuple or list of a call in a line, if that is known."""
    where = "" if line is None else f", line {line}"
    return f"{what} is the {kind.__name__} that {by} returns{where}: unpack it, or take the item that is meant"


def layer_of_tuples(called: ast.expr, owner: torch.nn.Module | None) -> str | None:
    """Return the name of the layer that a call runs, if that is one of torch's that always return a tuple; else None.

    Args:
        called: The function of the call: ``self.attention``.
        owner: The module that is ``self``.
    """
    match called:
        case ast.Attribute(value=ast.Name(id="self"), attr=name) if owner is not None:
            layer = owner._modules.get(name)
            code = code_of(getattr_static(layer, "forward", None)) if returns_as_forward(layer) else None
            return name if code is not None and code in _CODES else None
    return None


def returns_as_forward(module: torch.nn.Module | None) -> bool:
    """Return whether a call of a module returns what its ``forward`` does.

    A forward hook may replace that, and so may a class with a ``__call__`` of its own.
    """
    if module is None or module._forward_hooks:
        return False
    return getattr_static(type(module), "__call__") is getattr_static(torch.nn.Module, "__call__")


def is_always_made(name: str, owner: torch.nn.Module | None, source_map: SourceMap) -> bool:
    """Return whether the constructor assigns an attribute once, by its class, and whatever it is given.

    Elsewhere other arguments may choose another layer, also in a function that makes it.
    """
    if owner is None:
        return False
    made = type(owner._modules.get(name)).__name__
    methods = methods_of(type(owner), source_map)
    stores = [(method, node) for method in methods for node in method.attributes(ast.Store) if node.attr == name]
    if len(stores) != 1:
        return False
    method, node = stores[0]
    return any(
        isinstance(statement, ast.Assign) and statement.targets == [node] and calls_name(statement.value, made)
        for statement in (method.definition.body if method.name == "__init__" else ())
    )


def calls_name(expression: ast.expr, name: str) -> bool:
    """Return whether an expression is a call of a name, or of an attribute so named: ``nn.LSTM(...)``."""
    match expression:
        case ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called)):
            return called == name
    return False
