"""Functions that torch keeps private in modules, in what wraps them, and in what reads their weights."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from types import CodeType, FrameType
from typing import Any, NamedTuple

import torch
from torch.nn.modules import module as torch_module
from torch.nn.modules import utils

from ..replacement import replaced


def _codes(*functions: Any) -> frozenset[CodeType]:
    """Return the code of those functions that this torch has."""
    return frozenset(function.__code__ for function in functions if hasattr(function, "__code__"))


CONVERSIONS = _codes(getattr(torch.nn.Module, "_apply", None))
"""Code in which ``Module.to`` and its kind change tensors. Fallback: none, so what they do counts as of ``forward``."""
MODULE_CALLS = _codes(getattr(torch.nn.Module, "_call_impl", None), torch.fx.Tracer.call_module)
"""Code that calls modules. Fallback: FX's part alone, so an eager call within a constructor counts as a part of it."""
_BATCH_CHECKS = ("_verify_batch_size", "_verify_spatial_size")
"""Functions that refuse batches of one in train mode. Fallback: those that are there are replaced."""
_REPEATING = getattr(getattr(utils, "_single", None), "__code__", None)
"""Code of a function that makes ``n`` numbers of one. Fallback: how many is unknown."""


def repeated_length(frame: FrameType) -> int | None:
    """Return how often torch repeats a number in a frame; None if the frame is of another function.

    torch's ``_ntuple``, of which many projects have a copy, repeats what is not iterable.
    """
    if _REPEATING is None or frame.f_code.co_name != _REPEATING.co_name:
        return None
    count = frame.f_locals.get("n")
    return count if isinstance(count, int) else None


def conversion_replaced(convert: Callable[..., torch.nn.Module]) -> AbstractContextManager[None]:
    """Convert modules by another function inside this context: ``convert(module, fn, recurse=True)``.

    It is called for each child too, by ``child._apply``: see :func:`converted`.
    """
    return replaced(torch.nn.Module, _apply=convert)


def converted(module: torch.nn.Module, fn: Any) -> None:
    """Convert a module in the way that its class defines."""
    module._apply(fn)  # type: ignore[no-untyped-call]


def batches_of_one() -> AbstractContextManager[None]:
    """Allow batches of one in normalisation layers in train mode inside this context.

    Example inputs are small, training batches are not.
    """
    functional = torch.nn.functional
    return replaced(functional, **{name: lambda size: None for name in _BATCH_CHECKS if hasattr(functional, name)})


class _Keys(NamedTuple):
    missing_keys: list[str]
    unexpected_keys: list[str]


def all_keys_match() -> Any:
    """Return the answer of ``load_state_dict`` if every key matches. Fallback: a named tuple of the same fields."""
    kind = getattr(torch_module, "_IncompatibleKeys", _Keys)
    return kind([], [])


def read_pickled_storages_with(read: Callable[[bytes], Any]) -> None:
    """Let pickles of tensors read their storages by a function, which pickle finds by its name.

    Fallback: the attribute is set though nothing reads it.
    """
    read.__module__, read.__qualname__ = "torch.storage", "_load_from_bytes"
    read.__name__ = "_load_from_bytes"
    torch.storage._load_from_bytes = read


def tolerate_missing_backward(flex_attention: Any) -> None:
    """Let FlexAttention run on the CPU on tensors that require gradients: on the CPU it has no backward only.

    Fallback: it is refused there, as torch refuses it.
    """
    validate = getattr(flex_attention, "_validate_device", None)
    if validate is None:
        return

    def validate_device(*args: Any, **kwargs: Any) -> None:
        try:
            validate(*args, **kwargs)
        except NotImplementedError:
            return

    flex_attention._validate_device = validate_device


def compiled_module(module: torch.nn.Module) -> torch.nn.Module | None:
    """Return the module that ``torch.compile`` wrapped. Fallback: None, so it is called as a scripted one is."""
    original = getattr(module, "_orig_mod", None)
    return original if isinstance(original, torch.nn.Module) else None


def compiled_function(function: Any) -> Callable[..., Any] | None:
    """Return the function that ``torch.compile`` wrapped. Fallback: None, so the wrapper is called."""
    original: Callable[..., Any] | None = getattr(function, "_torchdynamo_orig_callable", None)
    return original


_NATIVE = (type(torch.add), getattr(torch._C, "_FunctionBase", type(torch.add)))


def is_native(function: object) -> bool:
    """Return whether a function of torch is written in C++. Fallback: without those of ``autograd.Function``."""
    return isinstance(function, _NATIVE)
