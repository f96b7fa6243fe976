"""Tensors, arrays and what belongs to them as JSON, without their values."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from typing import Any

Json = Any


def describe_of_torch(torch: Any, value: Any, kind: type) -> Json:
    """Return a value of torch; None for another one.

    Args:
        torch: the module that the program has imported.
    """
    if issubclass(kind, torch.Tensor):
        with _without_overrides(torch):
            return _tensor(torch, value)
    if kind is torch.Size:
        return {"size": [each if type(each) is int else None for each in tuple.__iter__(value)]}
    if kind is torch.device:
        return {"device": str(value)}
    if kind in (torch.dtype, torch.memory_format, torch.layout):
        return {"torch": str(value).removeprefix("torch.")}
    return None


def _without_overrides(torch: Any) -> AbstractContextManager[object]:
    """Return a context in which reading a tensor's attributes runs neither subclasses' nor modes' functions."""
    disable = getattr(torch._C, "DisableTorchFunction", None)
    context: AbstractContextManager[object] = nullcontext() if disable is None else disable()
    return context


def _tensor(torch: Any, value: Any) -> Json:
    if value.is_nested or value.layout is not torch.strided:
        return {"left_out": "a tensor that is not dense"}
    shape = list(value.shape)
    if any(type(size) is not int for size in shape):
        return {"left_out": "a tensor of symbolic sizes"}
    described: dict[str, Json] = {
        "shape": shape,
        "dtype": str(value.dtype).removeprefix("torch."),
        "device": str(value.device),
    }
    if isinstance(value, torch.nn.Parameter):
        described["parameter"] = True
    elif value.requires_grad and value.is_leaf:
        described["requires_grad"] = True
    return {"tensor": described}


def describe_of_numpy(numpy: Any, value: Any, kind: type) -> Json:
    """Return a value of numpy; None for another one."""
    if not hasattr(numpy, "generic"):
        # It is being imported.
        return None
    if issubclass(kind, (numpy.bool_, numpy.number)) and kind.__module__ == "numpy":
        item = value.item()
        if type(item) in (bool, int) or (type(item) is float and item - item == 0):
            return {"scalar": {"type": kind.__name__, "value": item}}
    if kind is numpy.ndarray and value.dtype.kind in "biuf":
        return {"array": {"shape": list(value.shape), "dtype": value.dtype.name}}
    if kind.__module__.startswith("numpy.dtype") or issubclass(kind, numpy.dtype):
        return {"array_dtype": value.name} if value.kind in "biuf" else {"left_out": "a structured dtype"}
    return None


def autocast_of(torch: Any) -> str | None:
    """Return the device and dtype of the autocast in force, ``cuda: float16``; None without."""
    for device in ("cuda", "cpu"):
        if torch.is_autocast_enabled(device):
            return f"{device}: {str(torch.get_autocast_dtype(device)).removeprefix('torch.')}"
    return None


def float_dtype_of(torch: Any, module: Any, most_modules: int = 32) -> str | None:
    """Return the dtype of a module's first parameter of floating point; None without one."""
    waiting = [module]
    while waiting and most_modules:
        most_modules -= 1
        space = waiting.pop(0).__dict__
        for parameter in space.get("_parameters", {}).values():
            if parameter is not None and parameter.dtype.is_floating_point:
                return str(parameter.dtype).removeprefix("torch.")
        waiting += [each for each in space.get("_modules", {}).values() if each is not None]
    return None


def is_recording_a_graph(torch: Any) -> bool:
    """Return whether torch is tracing or compiling: what is read of a tensor would become part of a graph."""
    return bool(torch.jit.is_tracing() or torch.compiler.is_compiling())
