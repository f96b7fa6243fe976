"""Windows that convolutions and pooling slide over their input, from the arguments of a node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
import torch.fx

from .fitting import Window

_PARAMETERS = ("kernel_size", "stride", "padding", "dilation", "ceil_mode")
_POSITIONS = {
    "max_pool": ("input", "kernel_size", "stride", "padding", "dilation", "ceil_mode"),
    "avg_pool": ("input", "kernel_size", "stride", "padding", "ceil_mode"),
}
"""Positional parameters of functions, by the beginning of their names.

Convolutions are not among them: the size of their window is that of the weight, which is no argument.
"""
_MOST_DIMENSIONS = 3


def windows_of(node: torch.fx.Node, module: torch.nn.Module | None) -> list[Window]:
    """Return a window for each dimension that a node's layer or function slides over; none if it slides over none.

    Args:
        node: the node.
        module: the module that it calls, if it does.
    """
    given = _of_module(module) if module is not None else _of_function(node)
    kernel, stride, padding, dilation = (_each(given.get(name), default) for name, default in _DEFAULTS)
    if kernel is None or padding is None or dilation is None or (stride is None and given.get("stride")):
        return []
    steps = stride or kernel
    found: list[Window] = []
    for size, step, pad, space in zip(kernel, steps, padding, dilation, strict=True):
        extra = step - 1 if given.get("ceil_mode") else 0
        found.append((step, 2 * pad - space * (size - 1) - 1 + step + extra))
    return list(dict.fromkeys(found))


_DEFAULTS: tuple[tuple[str, int | None], ...] = (
    ("kernel_size", None),
    ("stride", None),
    ("padding", 0),
    ("dilation", 1),
)


def _of_module(module: torch.nn.Module) -> Mapping[str, Any]:
    return {name: getattr(module, name) for name in _PARAMETERS if hasattr(module, name)}


def _of_function(node: torch.fx.Node) -> Mapping[str, Any]:
    name = getattr(node.target, "__name__", "").lstrip("_") if node.op == "call_function" else ""
    positions = next((names for start, names in _POSITIONS.items() if name.startswith(start)), ())
    return {**dict(zip(positions, node.args, strict=False)), **node.kwargs} if positions else {}


def _each(value: object, default: int | None) -> tuple[int, ...] | None:
    """Return a parameter for each dimension; None if it is not a plain number or tuple of up to three numbers."""
    if value is None:
        value = default
    if isinstance(value, int) and not isinstance(value, bool):
        return (value,) * _MOST_DIMENSIONS
    is_sequence = isinstance(value, (list, tuple)) and 0 < len(value) <= _MOST_DIMENSIONS
    if isinstance(value, (list, tuple)) and is_sequence and all(type(each) is int for each in value):
        return (*value, *[value[-1]] * (_MOST_DIMENSIONS - len(value)))
    return None
