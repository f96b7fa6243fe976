"""From an expression to what made its value: through names, attributes of ``self``, and arguments of a call."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .bindings import Binding, FileNames, Function, TextScope, unwrapped

_MOST_STEPS = 12
_MOST_CALLS = 8
"""Limit of calls of one function that are looked at."""


@dataclass(frozen=True, eq=False)
class Frame:
    """Scope, and what its function is given in one call of it."""

    scope: TextScope
    given: Mapping[str, tuple[ast.expr, Frame]] = field(default_factory=dict)
    """Arguments by the names of parameters; empty if no call is looked at."""


class Origin(NamedTuple):
    """Expression, parameter or item of a loop that a value comes from."""

    node: ast.expr | ast.arg | None
    """None if it is an item of a loop."""
    frame: Frame
    binding: Binding | None = None


def origin_of(expression: ast.expr, frame: Frame, names: FileNames) -> Origin | None:
    """Return where the value of an expression comes from; None if that is not known."""
    for _ in range(_MOST_STEPS):
        expression = unwrapped(expression)
        if isinstance(expression, ast.Attribute):
            stored = _own_attribute(expression, frame, names)
            if stored is None:
                return Origin(expression, frame)
            expression, frame = stored
            continue
        if not isinstance(expression, ast.Name):
            return Origin(expression, frame)
        found = names.binding(expression.id, frame.scope)
        if found is None:
            return None
        binding, scope = found
        if scope is not frame.scope:
            frame = Frame(scope)
        if binding.value is not None:
            expression = binding.value
        elif binding.parameter is not None and expression.id in frame.given:
            expression, frame = frame.given[expression.id]
        elif binding.parameter is not None or binding.iterated is not None:
            return Origin(binding.parameter, frame, binding)
        else:
            return Origin(expression, frame)
    return None


def _own_attribute(node: ast.Attribute, frame: Frame, names: FileNames) -> tuple[ast.expr, Frame] | None:
    """Return what ``self.name`` is assigned, with the frame of the assignment."""
    if not isinstance(node.value, ast.Name) or node.value.id != frame.scope.self_name:
        return None
    store = names.own_attribute(node.attr, frame.scope.owner)
    return None if store is None or store.value is None else (store.value, Frame(store.scope))


def frames_of(scope: TextScope, names: FileNames) -> Iterator[Frame]:
    """Yield a scope without and with what each call of its function in the file gives it."""
    yield Frame(scope)
    function = scope.node
    if not isinstance(function, Function) or scope.owner is not None or function.decorator_list:
        return
    for call, caller in names.calls[function][:_MOST_CALLS]:
        given = _arguments(call, function)
        if given:
            yield Frame(scope, {name: (value, Frame(caller)) for name, value in given.items()})


def _arguments(call: ast.Call, function: Function) -> dict[str, ast.expr]:
    """Return the arguments by parameter; none of a call that unpacks some."""
    if any(isinstance(each, ast.Starred) for each in call.args) or any(each.arg is None for each in call.keywords):
        return {}
    parameters = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    by_name = {each.arg: each.value for each in call.keywords if each.arg is not None}
    return {**dict(zip(parameters, call.args, strict=False)), **by_name}
