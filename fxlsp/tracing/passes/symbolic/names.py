"""Names of symbols, as the user's code has them, else by convention: B, C, H, W for images, B, T for sequences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import torch

from ...search.priors.stated_shapes import StatedShape, stated_shapes
from .axes import Axis, AxisGroup, InputAxes

_LONGEST = 9
"""Longest name that is used, in characters: a shape must stay readable."""
_NAME = re.compile(rf"[A-Za-z][A-Za-z0-9_]{{0,{_LONGEST - 1}}}")
_OTHERS = ("N", "M", "K", "L", "P", "Q")
_IMAGES = {3: ("B", "C", "L"), 4: ("B", "C", "H", "W"), 5: ("B", "C", "D", "H", "W")}
"""Names of the dimensions of what convolutions take, by rank."""


def names_of(model: torch.nn.Module, axes: InputAxes, groups: Sequence[AxisGroup]) -> dict[AxisGroup, str]:
    """Return a different name for each group of dimensions."""
    try:
        stated = stated_shapes(model)
    except Exception:
        # It reads any text, and evaluates annotations of the user's.
        stated = {}
    names: dict[AxisGroup, str] = {}
    for group in sorted(groups, key=lambda each: (each.axes[0].tensor, each.axes[0].dim)):
        taken = set(names.values())
        wanted = [*_stated(group, axes, stated), *_conventional(group, axes), *_OTHERS]
        free = [name for name in wanted if name not in taken]
        names[group] = free[0] if free else f"N{len(names)}"
    return names


def _stated(group: AxisGroup, axes: InputAxes, stated: dict[str, StatedShape]) -> Iterator[str]:
    """Yield the names that the code gives to the dimensions of a group, the usable ones."""
    for axis in group.axes:
        parameter, tensor = axes.tensors[axis.tensor]
        shape = stated.get(parameter)
        if shape is not None and len(shape.axes) == tensor.dim() and _NAME.fullmatch(shape.axes[axis.dim]):
            yield shape.axes[axis.dim]


def _conventional(group: AxisGroup, axes: InputAxes) -> Iterator[str]:
    for axis in group.axes:
        yield from _usual(axis, axes.tensors[axis.tensor][1], group.is_batch)


def _usual(axis: Axis, tensor: torch.Tensor, is_batch: bool) -> Iterator[str]:
    if is_batch:
        yield "B"
    elif tensor.dim() > 3 and tensor.is_floating_point() and tensor.dim() in _IMAGES:
        yield _IMAGES[tensor.dim()][axis.dim]
    elif axis.dim in (0, 1) and not (tensor.dim() == 2 and tensor.is_floating_point()):
        yield "T"
    elif tensor.dim() == 3:
        yield _IMAGES[3][axis.dim]
