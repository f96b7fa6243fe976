"""Which calls of imported functions set something up: decided by the function, when its file has been imported."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from types import BuiltinFunctionType, CodeType, FunctionType
from typing import Any

from ..locations.bytecode.opcodes import stores_outside
from ..locations.class_text import codes_within
from ..locations.code_origin import is_workspace_code
from .call_effects import CHANGING_METHODS, TRAINING_METHODS

_CHANGES = CHANGING_METHODS | {"setattr", "delattr"}
_REGISTERS = re.compile(r"_*(register|monkey_?patch|patch)(_|$)")
"""Names of functions of installed packages that are called at import for their effect."""


def sets_up(call: ast.Call, namespace: Mapping[str, Any]) -> bool:
    """Return whether a call of an imported function may set up what models depend on.

    A function of the workspace does if it stores into something and does not train; one of an installed package if
    its name is that of a registration.
    """
    functions = list(_called(call, namespace))
    if any(_trains(each) for each in functions):
        return False
    return any(_stores(each) for each in functions)


def _called(call: ast.Call, namespace: Mapping[str, Any]) -> Iterator[Any]:
    """Yield the function that a call calls; of ``register("name")(Block)`` the one that returns the other."""
    function = call.func
    while isinstance(function, ast.Call):
        function = function.func
    found = _value(function, namespace)
    if found is not None:
        yield getattr(found, "__func__", found)


def _value(node: ast.expr, namespace: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Name):
        return namespace.get(node.id)
    if isinstance(node, ast.Attribute):
        base = _value(node.value, namespace)
        try:
            return None if base is None else getattr(base, node.attr, None)
        except Exception:
            # A failed import, or a property that raises.
            return None
    return None


def _stores(function: Any) -> bool:
    if isinstance(function, type):
        function = function.__dict__.get("__init__")
    if isinstance(function, BuiltinFunctionType):
        # A method of a container: ``REGISTRY.update(...)``.
        return function.__name__ in CHANGING_METHODS
    if not isinstance(function, FunctionType):
        return False
    if not is_workspace_code(function.__code__.co_filename):
        return _REGISTERS.match(function.__name__) is not None
    return any(_code_stores(code) for each in _reached(function) for code in codes_within(each.__code__))


def _trains(function: Any) -> bool:
    if not isinstance(function, FunctionType) or not is_workspace_code(function.__code__.co_filename):
        return False
    return any(
        not TRAINING_METHODS.isdisjoint(code.co_names)
        for each in _reached(function)
        for code in codes_within(each.__code__)
    )


def _reached(function: FunctionType) -> Iterator[FunctionType]:
    """Yield a function and the functions of the workspace that it reaches by global names."""
    seen: set[int] = set()
    pending = [function]
    while pending:
        each = pending.pop()
        if id(each) in seen or not is_workspace_code(each.__code__.co_filename):
            continue
        seen.add(id(each))
        yield each
        names = {name for code in codes_within(each.__code__) for name in code.co_names}
        values = (each.__globals__.get(name) for name in names)
        pending += [value for value in values if isinstance(value, FunctionType)]


def _code_stores(code: CodeType) -> bool:
    return not _CHANGES.isdisjoint(code.co_names) or stores_outside(code)
