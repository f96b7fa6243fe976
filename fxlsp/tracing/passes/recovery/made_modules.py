"""Modules of torch that ``forward`` makes from traced sizes: they are made from the values.

Plain torch.fx passes them its proxies, which their constructors refuse, or keep and hand on to functions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import torch

from ...isolation.replacement import replaced
from ...model import module_tree
from ...model.capture.outputs import Unknown, holds_proxy
from ...model.diagnosis.failures import code_of_error, text_of
from .context import RecoveryContext
from .pytree import is_proxy, leaves


@contextmanager
def made_from_values(context: RecoveryContext) -> Iterator[None]:
    """Let the constructors of torch's modules take the values of traced arguments in this context."""
    with ExitStack() as stack:
        for cls in [cls for cls in _classes(torch.nn.Module) if "__init__" in cls.__dict__]:
            stack.enter_context(replaced(cls, __init__=_constructor(cls.__dict__["__init__"], context)))
        yield


def _classes(base: type[torch.nn.Module]) -> Iterator[type[torch.nn.Module]]:
    """Yield the classes of ``torch.nn`` below a class, each once."""
    pending, seen = [base], {base}
    while pending:
        for cls in pending.pop().__subclasses__():
            if cls not in seen and cls.__module__.startswith("torch.nn."):
                seen.add(cls)
                pending.append(cls)
                yield cls


def _constructor(original: Callable[..., None], context: RecoveryContext) -> Callable[..., None]:
    def construct(self: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
        if context.evaluating or context.is_plain or not any(is_proxy(leaf) for leaf in leaves((args, kwargs))):
            original(self, *args, **kwargs)
            return
        values, named = context.values_in((args, kwargs))
        if any(isinstance(leaf, Unknown) for leaf in leaves((values, named))):
            original(self, *args, **kwargs)
            return
        mark = context.mark()
        refusal: Exception | None = None
        try:
            with context.plain():
                original(self, *args, **kwargs)
        except Exception as error:
            refusal = error
        context.roll_back(mark)
        with context.evaluation():
            original(self, *values, **named)
        if refusal is not None:
            # After the values, because a constructor that refuses them too is no refusal of torch.fx.
            context.note(code_of_error(refusal, text_of(refusal)), refusal)

    # Under the name by which frames of constructors are recognised, and with the signature that is inspected.
    construct.__code__ = construct.__code__.replace(co_name="__init__")
    construct.__wrapped__ = original  # type: ignore[attr-defined]
    return construct


@contextmanager
def values_in_attributes(module: torch.nn.Module, context: RecoveryContext) -> Iterator[None]:
    """Replace the proxies that the attributes of a module and of its parts hold by their values in this context."""
    kept: list[tuple[dict[str, Any], str, Any]] = []
    for part in module_tree.modules(module):
        attributes = vars(part)
        for name, value in list(attributes.items()):
            if holds_proxy(value):
                kept.append((attributes, name, value))
                attributes[name] = context.values_in(value)
    try:
        yield
    finally:
        for attributes, name, value in kept:
            attributes[name] = value
