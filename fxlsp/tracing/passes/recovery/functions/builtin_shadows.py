"""Replacements of ``type`` and ``callable``, which a proxy cannot answer.

They shadow the builtins in the Python modules that use them.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import Any

import torch

from .....report.codes import TYPE_TEST
from ....model.capture.outputs import Unknown
from ..context import RecoveryContext
from ..pytree import is_proxy

_USE = re.compile(r"\b(type|callable)\s*\(")


def shadows_for(context: RecoveryContext, module: ModuleType, text: str) -> dict[str, Any]:
    """Return replacements of ``type`` and ``callable`` for a module with this text."""
    makers: dict[str, Callable[[RecoveryContext], Any]] = {"type": _type, "callable": _callable}
    used = {match[1] for match in _USE.finditer(text)}
    return {name: makers[name](context) for name in sorted(used) if name not in vars(module)}


def _type(context: RecoveryContext) -> type:
    class TypeShadow(type):
        """Metaclass of a ``type`` that returns classes of values, else acts like ``type``."""

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            if len(args) != 1 or kwargs:
                return type(*args, **kwargs)
            return _type_of(context, args[0])

        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, type)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, type)

    return TypeShadow("type", (type,), {})


def _type_of(context: RecoveryContext, value: Any) -> type:
    if not is_proxy(value) or context.evaluating or isinstance(context.value_of(value), Unknown):
        return type(value)
    known = context.value_of(value)
    answer = torch.Tensor if isinstance(known, torch.Tensor) else type(known)
    context.note(TYPE_TEST, None, f"the type is {answer.__name__} for what is passed, and Proxy for torch.fx")
    return answer


def _callable(context: RecoveryContext) -> Callable[[Any], bool]:
    def is_callable(value: Any) -> bool:
        if not is_proxy(value) or context.evaluating or isinstance(context.value_of(value), Unknown):
            return callable(value)
        answer = callable(context.value_of(value))
        if not answer:
            context.note(TYPE_TEST, None, "what is passed is not callable, and torch.fx's proxy is")
        return answer

    return is_callable
