"""Mismatches of views, of dimensions that do not exist, and of indices."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torch

from .operation import Fit, Key, Mismatch, Operation, dtype_text, shape_text, with_size


def _numbers(operation: Operation, start: int, name: str) -> tuple[int, ...] | None:
    """Return sizes that are passed one by one or as a tuple; None if one is no number."""
    rest: Any = operation.args[start:]
    if len(rest) == 1 and isinstance(rest[0], (list, tuple)):
        rest = rest[0]
    rest = rest or operation.kwargs.get(name) or ()
    is_known = isinstance(rest, (list, tuple)) and bool(rest) and all(type(each) is int for each in rest)
    return tuple(rest) if is_known else None


def view(operation: Operation) -> Mismatch | None:
    """Return the mismatch of ``view`` or ``reshape`` and the number of elements."""
    given, sizes = operation.tensor(0, "input"), _numbers(operation, 1, "shape")
    if given is None or sizes is None or any(size < -1 for size in sizes):
        return None
    shape, count = tuple(int(size) for size in given.shape), given.numel()
    what = f"`{operation.name}` of {shape_text(shape)} as {shape_text(sizes)}"
    if sizes.count(-1) > 1:
        return Mismatch(f"{what}: only one size can be -1")
    known = math.prod(size for size in sizes if size != -1)
    if -1 not in sizes and known != count:
        otherwise = _last_size(operation, sizes, count)
        return Mismatch(f"{what}: {count} elements, not {known}", {(0,): Fit(sizes)}, False, otherwise)
    if -1 in sizes and known and count % known:
        rest = shape[0] if sizes[0] == -1 else max(count // known, 1)
        full = tuple(rest if size == -1 else size for size in sizes)
        otherwise = _last_size(operation, full, count) if sizes[0] == -1 else {}
        headline = f"{what}: {count} elements are no multiple of {known}"
        return Mismatch(headline, {(0,): Fit(full)}, False, otherwise)
    if operation.name == "view" and not given.is_contiguous():
        headline = f"{what}: the elements are in another order in memory, use reshape"
        return Mismatch(headline, {(0,): Fit(shape)})
    return None


def _last_size(operation: Operation, sizes: tuple[int, ...], count: int) -> dict[Key, Fit | int]:
    """Return sizes for a view whose last one is wrong; empty if no number there would fit."""
    before = math.prod(sizes[:-1])
    if not before or count % before or operation.kwargs:
        return {}
    fits = (*sizes[:-1], count // before)
    if isinstance(operation.args[1], (list, tuple)):
        return {(1, at): size for at, size in enumerate(fits)}
    return {(1 + at,): size for at, size in enumerate(fits)}


def unflatten(operation: Operation) -> Mismatch | None:
    """Return the mismatch of ``unflatten`` and the size of its dimension."""
    given, dim, sizes = operation.tensor(0, "input"), operation.value(1, "dim"), operation.value(2, "sizes")
    if given is None or type(dim) is not int or not isinstance(sizes, (list, tuple)):
        return None
    if not -given.dim() <= dim < given.dim() or -1 in sizes or math.prod(sizes) == given.shape[dim]:
        return None
    what = f"`unflatten` of dimension {dim} of {shape_text(given.shape)} into {shape_text(sizes)}"
    fits = with_size(given, dim, math.prod(sizes))
    return Mismatch(f"{what}: {given.shape[dim]} != {math.prod(sizes)}", {operation.key(0, "input"): fits})


def expand(operation: Operation) -> Mismatch | None:
    """Return the dimension that ``expand`` or ``broadcast_to`` cannot stretch."""
    given, sizes = operation.tensor(0, "input"), _numbers(operation, 1, "size")
    if given is None or sizes is None:
        return None
    shape = tuple(int(size) for size in given.shape)
    what = f"`{operation.name}` of {shape_text(shape)} to {shape_text(sizes)}"
    if len(sizes) < len(shape):
        return Mismatch(f"{what}: {len(sizes)} sizes for {len(shape)} dimensions")
    offset = len(sizes) - len(shape)
    for at, size in enumerate(shape):
        wanted = sizes[at + offset]
        if wanted not in (-1, size) and size != 1:
            fits = Fit(tuple(own if new == -1 else 1 for own, new in zip(shape, sizes[offset:], strict=True)))
            return Mismatch(f"{what}: {size} != {wanted} in dimension {at}", {(0,): fits})
    return None


def permute(operation: Operation) -> Mismatch | None:
    """Return the mismatch of ``permute`` and the number of dimensions."""
    given, order = operation.tensor(0, "input"), _numbers(operation, 1, "dims")
    if given is None or order is None:
        return None
    rank, what = given.dim(), f"`permute` of {shape_text(given.shape)} by {shape_text(order)}"
    if len(order) != rank:
        return Mismatch(f"{what}: {len(order)} numbers for {rank} dimensions")
    outside = next((dim for dim in order if not -rank <= dim < rank), None)
    if outside is not None:
        return Mismatch(f"{what}: dim {outside} of a tensor with {rank} dimensions")
    repeated = len({dim % rank for dim in order}) < rank
    return Mismatch(f"{what}: a dimension is named twice") if repeated else None


_ELEMENTWISE_ALONG = frozenset(
    {"softmax", "log_softmax", "softmin", "cumsum", "cumprod", "normalize", "flip", "roll", "logcumsumexp"}
)
"""Functions whose result has the shape of their input, whichever dimension they work along."""

_DIMENSIONS: dict[str, tuple[tuple[int, str], ...]] = {
    **dict.fromkeys(
        (
            *("softmax", "log_softmax", "softmin", "sum", "mean", "prod", "max", "min", "argmax", "argmin", "amax"),
            *("amin", "std", "var", "all", "any", "cumsum", "cumprod", "logsumexp", "sort", "argsort", "squeeze"),
            *("unsqueeze", "unbind", "narrow", "select", "index_select", "gather", "scatter", "scatter_add", "size"),
            *("glu", "median", "count_nonzero", "logcumsumexp", "index_add", "index_copy", "unflatten", "nanmean"),
        ),
        ((1, "dim"),),
    ),
    **dict.fromkeys(("norm", "normalize", "topk", "chunk", "split", "cosine_similarity"), ((2, "dim"),)),
    **dict.fromkeys(("repeat_interleave", "split_with_sizes", "tensor_split"), ((2, "dim"),)),
    **dict.fromkeys(("transpose", "swapaxes", "swapdims"), ((1, "dim0"), (2, "dim1"))),
    "flatten": ((1, "start_dim"), (2, "end_dim")),
    "flip": ((1, "dims"),),
    "roll": ((2, "dims"),),
}
"""Arguments that are dimensions, by the names of functions."""


def dimension(operation: Operation) -> Mismatch | None:
    """Return the argument that is no dimension of the tensor."""
    given = operation.tensor(0, "input")
    if given is None:
        return None
    for position, name in _DIMENSIONS.get(operation.name, ()):
        value = operation.value(position, name)
        dims = value if isinstance(value, (list, tuple)) else (value,)
        fitting: dict[Key, Fit | int] = {}
        if operation.name in _ELEMENTWISE_ALONG and type(value) is int:
            fitting = {operation.key(position, name): -1}
        found = outside(operation.label, given, dims, operation.name == "unsqueeze", fitting)
        if found is not None:
            return found
    return None


def outside(
    label: str, given: torch.Tensor, dims: Sequence[Any], has_one_more: bool, fitting: dict[Key, Fit | int]
) -> Mismatch | None:
    """Return the first of ``dims`` that the tensor does not have; ``has_one_more`` allows the one after the last."""
    # A number is treated as if it had one dimension.
    rank = max(given.dim() + has_one_more, 1)
    wrong = next((dim for dim in dims if type(dim) is int and not -rank <= dim < rank), None)
    if wrong is None:
        return None
    plural = "" if given.dim() == 1 else "s"
    headline = f"{label} along dim {wrong} of a tensor with {given.dim()} dimension{plural}, {shape_text(given.shape)}"
    return Mismatch(headline, fitting)


def split(operation: Operation) -> Mismatch | None:
    """Return the mismatch of the sizes of ``split`` and the size of its dimension."""
    given, dim = operation.tensor(0, "tensor"), operation.value(2, "dim", 0)
    sizes = operation.value(1, "split_size_or_sections", operation.kwargs.get("split_size"))
    if given is None or not isinstance(sizes, (list, tuple)) or not -given.dim() <= dim < given.dim():
        return None
    total = sum(sizes)
    if total == given.shape[dim]:
        return None
    what = f"`split` of dimension {dim} of {shape_text(given.shape)} into {list(sizes)}"
    key = operation.key(0, "tensor")
    return Mismatch(f"{what}: {total} != {given.shape[dim]}", {key: with_size(given, dim, total)})


def item(operation: Operation) -> Mismatch | None:
    """Return the index of ``x[...]`` that the tensor, the list or the shape does not have."""
    if len(operation.args) != 2:
        return None
    given, index = operation.args
    if isinstance(given, (list, tuple)) and type(index) is int:
        count = len(given)
        is_there = -count <= index < count
        return None if is_there else Mismatch(f"index {index} of a {type(given).__name__} of {count} items")
    return _item_of_tensor(given, index) if isinstance(given, torch.Tensor) else None


def _item_of_tensor(given: torch.Tensor, index: Any) -> Mismatch | None:
    parts = list(index) if isinstance(index, tuple) else [index]
    taken = sum(_taken(part) for part in parts)
    if taken > given.dim():
        plural = "" if given.dim() == 1 else "s"
        return Mismatch(f"{taken} indices of a tensor with {given.dim()} dimension{plural}, {shape_text(given.shape)}")
    at = 0
    for number, part in enumerate(parts):
        if part is Ellipsis:
            at = given.dim() - sum(_taken(later) for later in parts[number + 1 :])
            continue
        if type(part) is int and not -given.shape[at] <= part < given.shape[at]:
            wanted = part + 1 if part >= 0 else -part
            headline = f"index {part} of dimension {at} of {shape_text(given.shape)}, which has {given.shape[at]}"
            return Mismatch(headline, {(0,): with_size(given, at, wanted)})
        if isinstance(part, torch.Tensor) and part.is_floating_point():
            return Mismatch(f"index of type {dtype_text(part.dtype)}: an integer or bool is required")
        at += _taken(part)
    return None


def _taken(part: Any) -> int:
    """Return the number of dimensions that an index refers to."""
    if isinstance(part, torch.Tensor) and part.dtype in (torch.bool, torch.uint8):
        return part.dim()
    return 0 if part is None or part is Ellipsis or isinstance(part, bool) else 1


def index_dtype(operation: Operation) -> Mismatch | None:
    """Return the mismatch of ``gather`` and its relatives and the dtype of their index."""
    index = operation.tensor(2, "index")
    if index is None or not index.is_floating_point():
        return None
    fits = Fit(tuple(index.shape), torch.int64)
    headline = f"{operation.label} takes an index of an integer type, got {dtype_text(index.dtype)}"
    return Mismatch(headline, {operation.key(2, "index"): fits})


def of_numbers(operation: Operation) -> Mismatch | None:
    """Return the mismatch of ``mean``, ``softmax`` and others with integers."""
    given = operation.tensor(0, "input")
    if given is None or given.is_floating_point() or given.is_complex() or operation.value(9, "dtype") is not None:
        return None
    headline = f"{operation.label} takes floating-point numbers, got {dtype_text(given.dtype)}"
    return Mismatch(headline, {operation.key(0, "input"): Fit(tuple(given.shape), torch.float32)})
