"""``torch.autograd.Function``: its ``forward`` is followed like any other function of the user's.

So does plain ``torch.fx``. But ``apply`` is C code, which takes the outputs for tensors and may crash on proxies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch

from .pytree import is_proxy


class _Context:
    """What ``forward`` is given to keep things in for a backward that never comes."""

    needs_input_grad: tuple[bool, ...] = ()

    def save_for_backward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def save_for_forward(self, *tensors: Any) -> None:
        self.saved_tensors = tensors

    def mark_dirty(self, *args: Any) -> None: ...

    def mark_non_differentiable(self, *args: Any) -> None: ...

    def set_materialize_grads(self, value: bool) -> None: ...


def _as_outputs(result: Any, args: tuple[Any, ...]) -> Any:
    """What ``apply`` returns: autograd gives a view of an input that ``forward`` returns as it is."""
    if type(result) is tuple:
        return tuple(_as_outputs(item, args) for item in result)
    is_input = any(result is argument for argument in args)
    return result.view_as(result) if is_input and (isinstance(result, torch.Tensor) or is_proxy(result)) else result


@contextmanager
def functions_followed(is_evaluating: Callable[[], bool]) -> Iterator[None]:
    """While this lasts, ``apply`` calls ``forward`` directly, but where values are worked out."""
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
