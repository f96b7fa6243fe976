"""Replacement of ``torch.autograd.Function.apply``, which fails with proxies.

The ``forward`` is run like any other function of the user's, as in plain ``torch.fx``. But ``apply`` is C code, which
treats the outputs as tensors and may crash on proxies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from ..pytree import is_proxy


class _Context:
    """Context for ``forward``; it stores values for a backward pass that is never run."""

    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def mark_dirty(self, *args: Any) -> None: ...

    def mark_non_differentiable(self, *args: Any) -> None: ...

    def set_materialize_grads(self, value: bool) -> None: ...


def _as_outputs(result: Any, args: tuple[Any, ...]) -> Any:
    """Return what ``apply`` returns: an input returned as it is becomes a view."""
    if type(result) is tuple:
        return tuple(_as_outputs(item, args) for item in result)
    is_input = any(result is argument for argument in args)
    return result.view_as(result) if is_input and (isinstance(result, torch.Tensor) or is_proxy(result)) else result


@contextmanager
def functions_followed(is_evaluating: Callable[[], bool]) -> Iterator[None]:
    """Let ``apply`` call ``forward`` directly, except while values are computed."""
    original = torch.autograd.Function.__dict__["apply"]

    def apply(cls: Any, *args: Any, **kwargs: Any) -> Any:
        if is_evaluating():
            return original.__get__(None, cls)(*args, **kwargs)
        context = _Context()
        context.needs_input_grad = tuple(isinstance(argument, torch.Tensor) for argument in args)
        if cls.setup_context is torch.autograd.Function.setup_context:
            return _as_outputs(cls.forward(context, *args, **kwargs), args)
        output = cls.forward(*args, **kwargs)
        cls.setup_context(context, args, output)
        return _as_outputs(output, args)

    torch.autograd.Function.apply = classmethod(apply)
    try:
        yield
    finally:
        torch.autograd.Function.apply = original
