"""Whether a function may run for something else than its result, decided by its text."""

from __future__ import annotations

import ast
import builtins
from collections.abc import Collection, Iterator
from types import BuiltinFunctionType, MethodType

import torch

from ..base.executed_functions import UNRESOLVED, ExecutedFunction, function_key
from ..base.pass_result import PassResult

_ACTIONS = (ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal, ast.Delete)
"""Parts that have an effect outside the function, or may have."""
_WITHOUT_EFFECT = frozenset(
    (
        *("abs", "bool", "dict", "enumerate", "float", "int", "isinstance", "len", "list", "max", "min", "print"),
        *("range", "reversed", "round", "str", "sum", "super", "tuple", "type", "zip"),
    )
)
"""Builtin functions that change nothing; what they print is not why a ``forward`` runs."""


def may_have_effects(function: ExecutedFunction, path: str, traced: PassResult) -> bool:
    """Return whether a ``forward`` may store something, print a result or change an argument.

    What it calls counts too: methods and functions of the module at ``path`` and of those below it.
    """
    below = f"{path}." if path else ""
    called = [
        each
        for each in traced.executed.reachable
        if any(at == path or at.startswith(below) for at in each.modules) or not each.modules
    ]
    own = [function, *(each for each in called if each.module is function.module)]
    looked_at = {each.key for each in own}
    if any(_stores(each, looked_at) for each in called):
        return True
    return not all(_is_pure_call(each, call) for each in own for call in each.parts(ast.Call))


def _stores(function: ExecutedFunction, looked_at: Collection[object]) -> bool:
    """Return whether a function changes anything but its own variables.

    ``looked_at`` are the keys of the functions whose text is looked at by itself.
    """
    if any(function.parts(kind) for kind in _ACTIONS):
        return True
    if not all(_is_of_torch(item.context_expr) for block in function.parts(ast.With) for item in block.items):
        return True
    own = set(_containers_made(function))
    targets: list[ast.Attribute | ast.Subscript] = [*function.parts(ast.Attribute), *function.parts(ast.Subscript)]
    if any(not isinstance(target.ctx, ast.Load) and _root(target) not in own for target in targets):
        return True
    unused = (each.value for each in function.parts(ast.Expr) if isinstance(each.value, ast.Call))
    return not all(_is_harmless_statement(function, call, own, looked_at) for call in unused)


def _is_harmless_statement(
    function: ExecutedFunction, call: ast.Call, own: set[str], looked_at: Collection[object]
) -> bool:
    """Return whether a call whose result is not used does nothing that lasts."""
    if isinstance(call.func, ast.Name):
        return call.func.id in _WITHOUT_EFFECT
    if _root(call.func) in own:
        return True
    called = function.resolve(call.func)
    if isinstance(called, MethodType) and function_key(called.__func__.__code__) in looked_at:
        return True
    return _is_torch_module(called) or _is_assertion(call.func) or _is_pure_function(called, call)


def _is_pure_function(called: object, call: ast.Call) -> bool:
    """Return whether it is a function of torch on tensors that changes none of its arguments."""
    is_of_torch = isinstance(called, BuiltinFunctionType) and called.__module__ == "torch"
    if not is_of_torch and getattr(called, "__module__", None) not in ("torch.functional", "torch.nn.functional"):
        return False
    is_in_place = getattr(called, "__name__", "_").endswith("_")
    return not is_in_place and not any(keyword.arg in ("out", "inplace") for keyword in call.keywords)


def _is_assertion(called: ast.expr) -> bool:
    return isinstance(called, ast.Attribute) and called.attr in ("_assert", "_check")


def _is_pure_call(function: ExecutedFunction, call: ast.Call) -> bool:
    """Return whether a call is one of torch, or of the model, whose text is looked at by itself."""
    called = function.resolve(call.func)
    if isinstance(call.func, ast.Attribute) and _changes_in_place(call.func.attr):
        # A value that the function computed may be changed, its arguments may not.
        return _root(call.func) in {node.id for node in function.parts(ast.Name) if isinstance(node.ctx, ast.Store)}
    if isinstance(called, torch.nn.Module):
        return True
    if called is UNRESOLVED:
        # A method of a value, or of the function's own variables.
        return isinstance(call.func, (ast.Attribute, ast.Name, ast.Subscript, ast.Call))
    if isinstance(call.func, ast.Name) and getattr(builtins, call.func.id, None) is called:
        return call.func.id in _WITHOUT_EFFECT
    if isinstance(call.func, ast.Attribute) and _root(call.func) == function.self_name:
        return True
    return str(getattr(called, "__module__", None) or "torch").partition(".")[0] in ("torch", "math")


def _changes_in_place(name: str) -> bool:
    return name.endswith("_") and not name.endswith("__")


def _is_torch_module(called: object) -> bool:
    """Return whether it is a layer of torch; one of the user's own may store what it is given."""
    return isinstance(called, torch.nn.Module) and type(called).__module__.startswith("torch.nn.")


def _is_of_torch(expression: ast.expr) -> bool:
    called = expression.func if isinstance(expression, ast.Call) else expression
    return _root(called) == "torch"


def _containers_made(function: ExecutedFunction) -> Iterator[str]:
    """Yield the variables that hold a list or dict which the function itself made."""
    for statement in function.parts(ast.Assign):
        value = statement.value
        is_new = isinstance(value, (ast.List, ast.Dict, ast.ListComp, ast.DictComp)) or (
            isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id in ("list", "dict")
        )
        yield from (target.id for target in statement.targets if isinstance(target, ast.Name) and is_new)


def _root(expression: ast.expr) -> str | None:
    """Return the variable at the start of ``outputs[0].values``."""
    while isinstance(expression, (ast.Attribute, ast.Subscript)):
        expression = expression.value
    return expression.id if isinstance(expression, ast.Name) else None
