"""Mismatches of convolutions and pooling: channels, dimensions and the size of the window."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from .layers import dimensions
from .operation import Fit, Key, Mismatch, Operation, each_of, shape_text, sizes_text, with_size

_NAMES = {1: "length", 2: "height, width", 3: "depth, height, width"}


@dataclass(frozen=True)
class Window:
    """Window that a convolution or pooling moves over its input."""

    spatial: int
    """Number of dimensions it moves along."""
    channels: int | None
    """Channels that the input must have; None for pooling."""
    kernel: tuple[int, ...] | None
    padding: tuple[int, ...] | None
    dilation: tuple[int, ...] | None
    """The last three are None if the window always fits, or is not known."""

    @property
    def extent(self) -> tuple[int, ...] | None:
        """Size that the padded input must have at least."""
        if self.kernel is None or self.padding is None or self.dilation is None:
            return None
        return tuple(space * (size - 1) + 1 for size, space in zip(self.kernel, self.dilation, strict=True))


def convolution_layer(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    """Return the mismatch of a ``ConvNd`` or ``ConvTransposeNd`` and its input."""
    spatial = len(layer.kernel_size)
    is_limited = not layer.transposed and layer.padding_mode == "zeros" and layer.padding != "same"
    padding = 0 if layer.padding == "valid" else layer.padding
    window = Window(
        spatial,
        layer.in_channels,
        tuple(layer.kernel_size) if is_limited else None,
        each_of(padding, spatial) if is_limited else None,
        each_of(layer.dilation, spatial),
    )
    return _of(operation, window, label)


def pooling_layer(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    """Return the mismatch of a maximum or average pooling and its input."""
    spatial = int(re.sub(r"\D", "", _base_name(layer)) or 0)
    if not spatial:
        return None
    has_ceiling = layer.ceil_mode
    window = Window(
        spatial,
        None,
        None if has_ceiling else each_of(layer.kernel_size, spatial),
        each_of(layer.padding, spatial),
        each_of(getattr(layer, "dilation", 1), spatial),
    )
    return _of(operation, window, label)


def _base_name(layer: nn.Module) -> str:
    return next((cls.__name__ for cls in type(layer).__mro__ if cls.__module__.startswith("torch.nn")), "")


def convolution(operation: Operation) -> Mismatch | None:
    """Return the mismatch of ``F.conv2d`` and its relatives."""
    weight = operation.tensor(1, "weight")
    if weight is None or not weight.dim() > 2:
        return None
    spatial = weight.dim() - 2
    is_transposed = "transpose" in operation.name
    if is_transposed:
        return _of(operation, Window(spatial, int(weight.shape[0]), None, None, None), operation.label)
    groups = operation.value(6, "groups", 1)
    padding = operation.value(4, "padding", 0)
    window = Window(
        spatial,
        int(weight.shape[1]) * int(groups),
        tuple(int(size) for size in weight.shape[2:]),
        each_of(0 if padding == "valid" else padding, spatial),
        each_of(operation.value(5, "dilation", 1), spatial),
    )
    return _of(operation, window, operation.label)


def pooling(operation: Operation) -> Mismatch | None:
    """Return the mismatch of ``F.max_pool2d`` and its relatives."""
    spatial = int(re.sub(r"\D", "", operation.name))
    is_maximum = operation.name.startswith("max")
    has_ceiling = bool(operation.value(5 if is_maximum else 4, "ceil_mode", False))
    window = Window(
        spatial,
        None,
        None if has_ceiling else each_of(operation.value(1, "kernel_size"), spatial),
        each_of(operation.value(3, "padding", 0), spatial),
        each_of(operation.value(4, "dilation", 1) if is_maximum else 1, spatial),
    )
    return _of(operation, window, operation.label)


def _of(operation: Operation, window: Window, label: str) -> Mismatch | None:
    given = operation.tensor(0, "input")
    if given is None:
        return None
    key, spatial = operation.key(0, "input"), window.spatial
    names = f" (batch, channels, {_NAMES[spatial]})" if spatial in _NAMES else ""
    wrong = dimensions(label, given, spatial + 1, spatial + 2)
    if wrong is not None:
        return dimensions(label, given, spatial + 2, names=names)
    sizes = tuple(int(size) for size in given.shape[-spatial:])
    return _of_channels(key, given, window, label) or _of_extent(key, given, sizes, window, label)


def _of_channels(key: Key, given: torch.Tensor, window: Window, label: str) -> Mismatch | None:
    at, wanted = -window.spatial - 1, window.channels
    if wanted is None or given.shape[at] == wanted:
        return None
    shape = tuple(int(size) for size in given.shape)
    headline = f"{label} takes {wanted} channels, got {shape[at]}"
    is_batched = len(shape) == window.spatial + 2
    if is_batched and shape[-1] == wanted and wanted not in shape[1:-1]:
        moved = (shape[0], wanted, *shape[1:-1])
        headline = f"{headline}: the input {shape_text(shape)} has {wanted} in its last dimension"
        return Mismatch(headline, {key: Fit(moved)}, False, {key: with_size(given, at, wanted)})
    fits = with_size(given, at, wanted)
    # An input without a batch may as well lack its channels.
    return Mismatch(headline, {key: fits}, is_certain=is_batched, is_of_size=is_batched)


def _of_extent(key: Key, given: torch.Tensor, sizes: Sequence[int], window: Window, label: str) -> Mismatch | None:
    extent, padding = window.extent, window.padding
    if extent is None or padding is None or not math.prod(sizes):
        return None
    padded = [size + 2 * extra for size, extra in zip(sizes, padding, strict=True)]
    if all(size >= need for size, need in zip(padded, extent, strict=True)):
        return None
    given_as = "a padded input" if any(padding) else "an input"
    headline = f"{label} has a window of {sizes_text(extent)}, got {given_as} of {sizes_text(padded)}"
    fits = [max(size, need - 2 * extra) for size, need, extra in zip(sizes, extent, padding, strict=True)]
    shape = (*(int(size) for size in given.shape[: -len(sizes)]), *fits)
    return Mismatch(headline, {key: Fit(shape)}, is_certain=False)
