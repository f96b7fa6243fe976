"""Hooks that may replace what a module takes or returns, by the text that registers them.

Most hooks look at values and return nothing: they store features, print shapes.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import TypeAlias

_Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_REGISTERING = ("register_forward_hook", "register_forward_pre_hook")
"""Those for gradients and states change no value of a forward."""
_RETURN_NONE = ("append", "extend", "add", "update", "insert", "clear", "print", "setattr", "__setitem__", "put")
"""Functions of which the result of a lambda is None."""


def registers_changing_hook(call: ast.Call, tree: ast.Module) -> bool:
    """Return whether a call registers a forward hook that may return something; True if its text is not known.

    Args:
        call: The call of a method: ``net.fc.register_forward_hook(hook)``.
        tree: The file with the call, whose functions are looked up by name.
    """
    if not isinstance(call.func, ast.Attribute) or call.func.attr not in _REGISTERING:
        return False
    given = [*call.args, *(each.value for each in call.keywords if each.arg == "hook")][:1]
    return not given or _may_return(given[0], tree)


def _may_return(hook: ast.expr, tree: ast.Module) -> bool:
    match hook:
        case ast.Lambda(body=ast.Constant(value=None)):
            return False
        case ast.Lambda(body=ast.Call(func=ast.Name(id=called) | ast.Attribute(attr=called))):
            return called not in _RETURN_NONE
        case ast.Lambda():
            return True
        case ast.Name(id=name) | ast.Attribute(attr=name):
            return any(map(_returns_value, found)) if (found := _functions_of(name, tree)) else True
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            # ``register_forward_hook(save_as("fc"))``: a function that makes the hook.
            made = [each for maker in _functions_of(name, tree) for each in _inner_functions(maker)]
            return any(map(_returns_value, made)) if made else True
    return True


def _functions_of(name: str, tree: ast.Module) -> list[_Function]:
    return [node for node in ast.walk(tree) if isinstance(node, _Function) and node.name == name]


def _inner_functions(function: _Function) -> Iterator[_Function]:
    return (node for each in function.body for node in ast.walk(each) if isinstance(node, _Function))


def _returns_value(function: _Function) -> bool:
    """Return whether a function has a ``return`` of its own with a value other than None."""
    waiting: list[ast.AST] = [*function.body]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Return) and node.value is not None:
            if not (isinstance(node.value, ast.Constant) and node.value.value is None):
                return True
        elif not isinstance(node, (_Function, ast.Lambda, ast.ClassDef)):
            waiting += ast.iter_child_nodes(node)
    return False
