"""Mismatches of layers that have weights: sizes of the input against the layer's attributes."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch import nn

from ...isolation.torch_private.layers import BATCH_NORMS, INSTANCE_NORMS
from .. import module_tree
from .operation import (
    Fit,
    Key,
    Mismatch,
    Operation,
    dtype_text,
    is_index_dtype,
    shape_text,
    with_size,
)


def features(
    label: str, key: Key, given: torch.Tensor, wanted: int, *, flattens: bool = False, what: str = ""
) -> Mismatch | None:
    """Return the mismatch of a last dimension with the features that a layer takes.

    Args:
        label: the layer in the headline.
        key: the operand.
        given: its value.
        wanted: the number of features.
        flattens: whether an input that was not flattened is likely.
        what: name of the operand in the headline, if there are several.
    """
    if given.dim() == 0 or given.shape[-1] == wanted:
        return None
    shape = tuple(int(size) for size in given.shape)
    headline = f"{label} takes {wanted} features{f' of its {what}' if what else ''}, got {shape[-1]}"
    if flattens and len(shape) > 2 and math.prod(shape[1:]) == wanted:
        return Mismatch(f"{headline}: the input {shape_text(shape)} is not flattened", {key: Fit((shape[0], wanted))})
    fitting: dict[Key, Fit | int] = {key: with_size(given, -1, wanted)}
    if wanted not in shape:
        return Mismatch(headline, fitting, is_of_size=True)
    # If another dimension has that size, the input may have to be transposed, and the result has other sizes then.
    at = len(shape) - 2 - shape[-2::-1].index(wanted)
    turned = (*shape[:at], shape[-1], *shape[at + 1 : -1], wanted)
    return Mismatch(headline, fitting, False, {key: Fit(turned)})


def dimensions(label: str, given: torch.Tensor, *wanted: int, names: str = "") -> Mismatch | None:
    """Return the mismatch of an operand's number of dimensions."""
    if given.dim() in wanted:
        return None
    counts = " or ".join(str(count) for count in wanted)
    plural = "s" if counts != "1" else ""
    return Mismatch(f"{label} takes {counts} dimension{plural}{names}, got {given.dim()}: {shape_text(given.shape)}")


def _linear(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    given = operation.tensor(0, "input")
    key = operation.key(0, "input")
    return None if given is None else features(label, key, given, layer.in_features, flattens=True)


def _normalization(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    given = operation.tensor(0, "input")
    if given is None:
        return None
    wanted = layer.num_channels if isinstance(layer, nn.GroupNorm) else layer.num_features
    ranks = _RANKS.get(re.sub(r"^\D*|\D*$", "", type(layer).__name__))
    has_channels = isinstance(layer, (nn.GroupNorm, nn.SyncBatchNorm)) or ranks is None or given.dim() in ranks
    if not has_channels and ranks is not None:
        return dimensions(label, given, *ranks)
    is_unbatched = isinstance(layer, INSTANCE_NORMS) and ranks and given.dim() == ranks[0]
    channel = 0 if is_unbatched else 1
    if given.dim() <= channel or given.shape[channel] == wanted:
        return None
    fits = with_size(given, channel, wanted)
    shape = given.shape[channel + 1 :]
    headline = f"{label} takes {wanted} channels, got {given.shape[channel]}"
    is_certain = wanted not in shape
    return Mismatch(headline, {operation.key(0, "input"): fits}, is_certain, is_of_size=is_certain)


_RANKS = {"1": (2, 3), "2": (3, 4), "3": (4, 5)}
"""Numbers of dimensions that a normalization over one, two or three dimensions takes, unbatched ones included."""


def _batch_norm(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    given = operation.tensor(0, "input")
    ranks = {"BatchNorm2d": (4,), "BatchNorm3d": (5,)}.get(type(layer).__name__)
    if given is not None and ranks is not None and given.dim() not in ranks:
        return dimensions(label, given, *ranks)
    return _normalization(operation, layer, label)


def layer_norm(label: str, key: Key, given: torch.Tensor, wanted: tuple[int, ...]) -> Mismatch | None:
    """Return the mismatch of the last dimensions with those that are normalized."""
    shape = tuple(int(size) for size in given.shape)
    last = shape[len(shape) - len(wanted) :]
    if last == wanted:
        return None
    if len(wanted) == 1 and shape:
        headline = f"{label} takes {wanted[0]} in the last dimension, got {shape[-1]}"
    else:
        headline = f"{label} takes {shape_text(wanted)} as the last dimensions, got {shape_text(shape)}"
    if len(last) < len(wanted):
        return Mismatch(headline)
    fits = Fit((*shape[: len(shape) - len(wanted)], *wanted))
    is_certain = not set(wanted) & set(shape)
    return Mismatch(headline, {key: fits}, is_certain, is_of_size=is_certain and len(wanted) == 1)


def _layer_norm(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    given = operation.tensor(0, "input")
    if given is None:
        return None
    return layer_norm(label, operation.key(0, "input"), given, tuple(layer.normalized_shape))


def embedding(label: str, key: Key, given: torch.Tensor, entries: int, has_data: bool) -> Mismatch | None:
    """Return the mismatch of indices with an embedding: their dtype, else their range."""
    if not is_index_dtype(given.dtype):
        fits = Fit(tuple(given.shape), torch.int64)
        return Mismatch(f"{label} takes indices of an integer type, got {dtype_text(given.dtype)}", {key: fits})
    if not has_data or given.numel() == 0:
        return None
    low, high = int(given.min()), int(given.max())
    if low >= 0 and high < entries:
        return None
    index = low if low < 0 else high
    return Mismatch(f"{label} has {entries} entries, got the index {index}", {key: Fit(tuple(given.shape))})


def _embedding(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    given = operation.tensor(0, "input")
    if given is None:
        return None
    return embedding(label, operation.key(0, "input"), given, layer.num_embeddings, type(given) is torch.Tensor)


def _parametric_relu(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    given, wanted = operation.tensor(0, "input"), layer.num_parameters
    if given is None or wanted == 1 or given.dim() < 2 or given.shape[1] == wanted:
        return None
    fits = with_size(given, 1, wanted)
    headline = f"{label} takes {wanted} channels, got {given.shape[1]}"
    return Mismatch(headline, {operation.key(0, "input"): fits}, is_certain=False, is_of_size=True)


def _bilinear(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    for position, wanted in enumerate((layer.in1_features, layer.in2_features)):
        name = f"input{position + 1}"
        given = operation.tensor(position, name)
        found = None if given is None else features(label, operation.key(position, name), given, wanted, what=name)
        if found is not None:
            return found
    return None


LayerRule = Callable[[Operation, Any, str], Mismatch | None]

LAYERS: tuple[tuple[type[nn.Module] | tuple[type[nn.Module], ...], LayerRule], ...] = (
    (nn.Linear, _linear),
    (nn.Bilinear, _bilinear),
    (BATCH_NORMS, _batch_norm),
    ((*INSTANCE_NORMS, nn.GroupNorm), _normalization),
    ((nn.LayerNorm, nn.RMSNorm), _layer_norm),
    ((nn.Embedding, nn.EmbeddingBag), _embedding),
    (nn.PReLU, _parametric_relu),
)


def of_weights_dtype(operation: Operation, layer: nn.Module, label: str) -> Mismatch | None:
    """Return the mismatch of the dtypes of an input and of a layer's weights."""
    weights = next((each.dtype for each in _weights(layer) if each.is_floating_point()), None)
    given = next(operation.tensors(), None)
    if weights is None or given is None or given[1].dtype == weights or isinstance(layer, _OF_INDICES):
        return None
    key, tensor = given
    fitting = {key: Fit(tuple(tensor.shape), weights)}
    # Which of two floating-point types is meant is unknown.
    is_certain = not tensor.is_floating_point()
    return Mismatch(f"{label} has {dtype_text(weights)} weights, got {dtype_text(tensor.dtype)}", fitting, is_certain)


_OF_INDICES = (nn.Embedding, nn.EmbeddingBag)


def _weights(layer: nn.Module) -> Iterator[torch.Tensor]:
    yield from module_tree.parameters(layer)
