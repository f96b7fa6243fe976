"""Builtins that cannot be answered by a proxy, shadowed in the modules that use them: ``type`` and ``callable``."""

from __future__ import annotations

import re
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any

import torch

from ...report.codes import TYPE_TEST
from ..outputs import Unknown
from .proxies import is_proxy

if TYPE_CHECKING:
    from .tracer import RecoveringTracer

_USE = re.compile(r"\b(type|callable)\s*\(")


def shadows_for(tracer: RecoveringTracer, module: ModuleType, text: str) -> dict[str, Any]:
    """What ``type`` and ``callable`` stand for in a module of this text while the pass runs."""
    makers: dict[str, Callable[[RecoveringTracer], Any]] = {"type": _type, "callable": _callable}
    used = {match[1] for match in _USE.finditer(text)}
    return {name: makers[name](tracer) for name in sorted(used) if name not in vars(module)}


def _type(tracer: RecoveringTracer) -> type:
    class Asked(type):
        """Makes the shadow of ``type`` answer for values, and be ``type`` in all else."""

        def __call__(cls, *args: Any, **kwargs: Any) -> Any:
            if len(args) != 1 or kwargs:
                return type(*args, **kwargs)
            return _type_of(tracer, args[0])

        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, type)

        def __subclasscheck__(cls, subclass: type) -> bool:
            return issubclass(subclass, type)

    return Asked("type", (type,), {})


def _type_of(tracer: RecoveringTracer, value: Any) -> type:
    if not is_proxy(value) or tracer.evaluating or isinstance(tracer.value_of(value), Unknown):
        return type(value)
    known = tracer.value_of(value)
    answer = torch.Tensor if isinstance(known, torch.Tensor) else type(known)
    tracer.note(TYPE_TEST, None, f"the type is {answer.__name__} for what is passed, and Proxy for torch.fx")
    return answer


def _callable(tracer: RecoveringTracer) -> Callable[[Any], bool]:
    def asked(value: Any) -> bool:
        if not is_proxy(value) or tracer.evaluating or isinstance(tracer.value_of(value), Unknown):
            return callable(value)
        answer = callable(tracer.value_of(value))
        if not answer:
            tracer.note(TYPE_TEST, None, "what is passed is not callable, and torch.fx's proxy is")
        return answer

    return asked
