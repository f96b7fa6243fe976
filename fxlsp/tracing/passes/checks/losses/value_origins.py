"""From an expression to what made its value: through names, attributes of ``self``, and arguments of a call."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .file_names import FileNames, Function, TextScope, arguments_of, unwrapped

_MOST_STEPS = 12
_MOST_CALLS = 8
"""Limit of calls of one function that are looked at."""


@dataclass(frozen=True, eq=False)
class Frame:
    """Scope, and what its function is given in one call of it."""

    scope: TextScope
    given: Mapping[str, tuple[ast.expr, Frame]] = field(default_factory=dict)
    """Arguments by the names of parameters; empty if no call is looked at."""


class ValueOrigin(NamedTuple):
    """Expression or parameter that a value comes from."""

    node: ast.expr | ast.arg
    frame: Frame
    passed: tuple[tuple[TextScope | None, str], ...]
    """Names that the value has on the way, with the scopes that bind them; without a scope, attributes of ``self``."""
    has_other_arguments: bool
    """Whether a name on the way is also bound to a call of the same function with other arguments."""


def origin_of(
    expression: ast.expr, frame: Frame, names: FileNames, with_attributes: bool = False
) -> ValueOrigin | None:
    """Return where the value of an expression comes from; None if that is not known.

    ``with_attributes`` also looks for what ``self.name`` is assigned, which suits modules. What a method assigns a
    tensor's attribute, another one may change.
    """
    passed: list[tuple[TextScope | None, str]] = []
    is_other = False
    for _ in range(_MOST_STEPS):
        expression = unwrapped(expression)
        if frame.scope.is_own(expression) and isinstance(expression, ast.Attribute):
            store = names.own_attribute(expression.attr, frame.scope.owner) if with_attributes else None
            value = None if store is None else names.assigned(store[0])
            if store is None or value is None:
                return None
            passed.append((None, expression.attr))
            expression, frame = value, Frame(store[1])
            continue
        if not isinstance(expression, ast.Name):
            return ValueOrigin(expression, frame, tuple(passed), is_other)
        found = names.binding(expression.id, frame.scope)
        if found is None:
            return None
        binding, scope = found
        passed.append((scope, expression.id))
        is_other = is_other or binding.has_other_arguments
        if scope is not frame.scope:
            frame = Frame(scope)
        if binding.value is not None:
            expression = binding.value
        elif binding.parameter is None:
            return ValueOrigin(expression, frame, tuple(passed), is_other)
        elif expression.id in frame.given:
            expression, frame = frame.given[expression.id]
        else:
            return ValueOrigin(binding.parameter, frame, tuple(passed), is_other)
    return None


def frames_of(scope: TextScope, names: FileNames) -> Iterator[Frame]:
    """Yield a scope without and with what each call of its function in the file gives it."""
    yield Frame(scope)
    function = scope.node
    if not isinstance(function, Function) or scope.owner is not None or function.decorator_list:
        return
    uses = names.loads.get((names.binding_scope(function.name, scope), function.name), [])
    for use, caller in uses[:_MOST_CALLS]:
        call, found = names.parents[use], names.binding(function.name, caller)
        is_called = isinstance(call, ast.Call) and call.func is use
        if isinstance(call, ast.Call) and is_called and found is not None and found[0].definition is function:
            yield Frame(scope, {name: (value, Frame(caller)) for name, value in arguments_of(call, function).items()})
