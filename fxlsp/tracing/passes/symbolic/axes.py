"""Dimensions of a model's inputs that may vary together, and the sizes with which they are tried."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from ...isolation.torch_private import FakeTensorMode, tensors_in, tree_map

STEPS = 5
"""Number of sizes in a schedule."""

_BATCH = "batch"
_ALIGNED = 64
"""Strides of most models divide this. Sizes one more and one less than a multiple tell roundings apart."""
_BATCHES = (3, 5, 7, 4, 9, 6)


@dataclass(frozen=True, slots=True)
class Axis:
    """Dimension of one tensor among the inputs."""

    tensor: int
    """Number of the tensor, in the order of the inputs."""
    dim: int


@dataclass(frozen=True, slots=True)
class AxisGroup:
    """Dimensions that have one size, which may be free."""

    axes: tuple[Axis, ...]
    size: int
    ordinal: int
    """Number of the group; groups with different numbers get different sizes."""
    is_batch: bool
    is_likely: bool
    """Whether models usually accept any size here; not so for channels and features."""

    def schedules(self) -> tuple[tuple[int, ...], ...]:
        """Return the sizes to try, in the order in which they tell most: any, smaller ones, multiples."""
        if self.is_batch:
            return (tuple(size for size in _BATCHES if size != self.size)[:STEPS],)
        start = -(-self.size // _ALIGNED) * _ALIGNED + _ALIGNED * self.ordinal
        grown = (start + 1, start + _ALIGNED - 1, start + 37, start + 26, start + 11)
        # Positions that a model has a table for can only be fewer.
        smaller = tuple(self.size - less - self.ordinal for less in (1, 4, 2, 7, 3))
        power = min(self.size & -self.size, _ALIGNED // 2)
        multiples = tuple(self.size + power * (step + 2 * self.ordinal) for step in (1, 2, 5, 4, 7))
        usable = [smaller] if min(smaller) > 1 else []
        return (grown, *usable, *([multiples] if power > 1 else []))


class InputAxes:
    """Dimensions of all tensors among a model's inputs."""

    def __init__(self, inputs: Mapping[str, Any], mode: FakeTensorMode) -> None:
        """
        Args:
            inputs: arguments of ``forward`` by the names of its placeholders.
            mode: the mode of the fake tensors that take their place.
        """
        self._inputs = inputs
        self._mode = mode
        self.tensors = [(name.lstrip("*"), tensor) for name, value in inputs.items() for tensor in tensors_in(value)]
        """The tensors, each with the name of its parameter."""
        self.groups = tuple(_groups([tensor for _, tensor in self.tensors]))

    def inputs_at(self, sizes: Mapping[AxisGroup, int]) -> dict[str, Any]:
        """Return the inputs with other sizes, as fake tensors."""
        shapes = [list(tensor.shape) for _, tensor in self.tensors]
        for group, size in sizes.items():
            for axis in group.axes:
                shapes[axis.tensor][axis.dim] = size
        left = iter(shapes)
        with self._mode:
            return {
                name: tree_map(lambda value: self._made(value, left), value) for name, value in self._inputs.items()
            }

    def _made(self, value: Any, shapes: Iterator[list[int]]) -> Any:
        return torch.empty(next(shapes), dtype=value.dtype) if isinstance(value, torch.Tensor) else value


def merged(groups: Sequence[AxisGroup]) -> tuple[AxisGroup, ...]:
    """Return the groups with those of one size as one, such as the edges of a square mask."""
    by_size: dict[int, AxisGroup] = {}
    for group in groups:
        before = by_size.get(group.size)
        if before is None:
            by_size[group.size] = group
        else:
            is_likely = before.is_likely and group.is_likely
            axes = (*before.axes, *group.axes)
            by_size[group.size] = AxisGroup(axes, group.size, before.ordinal, is_batch=False, is_likely=is_likely)
    return tuple(by_size.values())


def _groups(tensors: Sequence[torch.Tensor]) -> Iterator[AxisGroup]:
    batch = next((int(tensor.shape[0]) for tensor in tensors if tensor.dim()), 0)
    found: dict[tuple[object, ...], list[Axis]] = {}
    for number, tensor in enumerate(tensors):
        seen: dict[int, int] = {}
        for dim, size in enumerate(map(int, tensor.shape)):
            if dim == 0 and size == batch:
                found.setdefault((_BATCH, size), []).append(Axis(number, dim))
            elif size > 1:
                # Equal sizes of one tensor, such as height and width, are different dimensions.
                found.setdefault((size, seen.get(size, 0)), []).append(Axis(number, dim))
                seen[size] = seen.get(size, 0) + 1
    for ordinal, (key, axes) in enumerate(found.items()):
        size = int(tensors[axes[0].tensor].shape[axes[0].dim])
        is_likely = not any(_holds_features(tensors[axis.tensor], axis.dim) for axis in axes)
        yield AxisGroup(tuple(axes), size, ordinal, key[0] == _BATCH, is_likely)


def _holds_features(tensor: torch.Tensor, dim: int) -> bool:
    """Return whether a dimension is usually one of channels or features, whose number the layers fix."""
    if not tensor.is_floating_point() or tensor.dim() < 2:
        return False
    return dim == (1 if tensor.dim() > 3 else tensor.dim() - 1)
