"""What a call of torch's that raised says about its operands: their ranks, types and sizes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice, permutations, zip_longest
from math import prod
from typing import Any

import torch

from .arrangements import rearranged
from .attempts import Call
from .guesses import Open, Path, Tensor, Trial, changed
from .joins import refitted
from .layers import BATCH, spatial
from .lengths import of_share, pyramids, several
from .names import SEQUENCE, name_of
from .sizes import (
    equalised,
    number_of,
    numbers,
    resized,
    split,
    step_of,
    tensors,
    trimmed,
    with_edges_times,
    with_number,
)

BROADCASTING = re.compile(
    r"""add|sub|mul|div|truediv|iadd|isub|imul|idiv|itruediv|radd|rsub|rmul|rtruediv|where|lerp|maximum
    |minimum|pow|eq|ne|lt|gt|le|ge|bitwise_and|bitwise_or|logical_and|logical_or|and|or|masked_fill
    |addcmul|addcdiv|binary_cross_entropy_with_logits|binary_cross_entropy|mse_loss|l1_loss
    |smooth_l1_loss|kl_div|huber_loss|copy|fmod|remainder|atan2|max|min|dist""",
    re.VERBOSE,
)


_LISTED = 3
"""Items of a list, where nothing tells how many."""
_OF_ONE_NUMBER = frozenset({"int", "float", "index", "item"})


def read(trial: Trial, call: Call) -> Iterator[Trial]:
    """Trials that the operands of ``call`` suggest."""
    operands = [value for value in (*call.args, *call.kwargs.values()) if isinstance(value, torch.Tensor)]
    name = call.name.strip("_")
    if name.startswith("conv") and len(operands) > 1:
        yield from _convolution(trial, call, operands)
    elif name == "linear" and len(operands) > 1:
        yield from _floats(trial, operands[0])
        yield from _features(trial, call, operands[0], operands[1].shape[-1])
    elif name.endswith("_cell") and len(call.args) > 2:
        yield from _features(trial, call, operands[0], call.args[2].shape[-1])
    elif name in ("batch_norm", "instance_norm", "group_norm") and len(operands) > 1:
        yield from _floats(trial, operands[0])
        yield from _channels(trial, call, operands[0], operands[-1].shape[0])
    elif name == "layer_norm":
        yield from _floats(trial, operands[0])
        yield from _layer_norm(trial, call, operands[0])
    elif name in ("gather", "scatter", "scatter_add") and len(operands) > 1:
        yield from _indexed(trial, call, operands[0], operands[1])
    elif name in ("embedding", "embedding_bag", "one_hot", "index_select"):
        for operand in operands if name != "embedding" else operands[:1]:
            yield from retyped(trial, operand, "long")
            if name == "one_hot" and operand.dim() > 1:
                yield from _labels(trial, operand)
    elif name in ("matmul", "mm", "bmm", "rmatmul", "baddbmm", "addmm", "matmul_", "sparse_mm", "spmm"):
        ranks = {"bmm": 3, "baddbmm": 3, "mm": 2, "addmm": 2, "sparse_mm": 2, "spmm": 2}
        yield from _of_ranks(trial, operands[-2:], ranks.get(name))
        yield from _product(trial, call, operands[-2:])
    else:
        yield from _without_weights(trial, name, call, operands)


def _without_weights(trial: Trial, name: str, call: Call, operands: list[torch.Tensor]) -> Iterator[Trial]:
    if name in ("cat", "stack", "concat", "concatenate", "hstack", "vstack"):
        yield from _joined(trial, [item for arg in call.args[:1] if isinstance(arg, (list, tuple)) for item in arg])
    elif name in ("cross_entropy", "nll_loss") and len(operands) > 1 and operands[0].dim():
        if len(operands) > 2 and operands[0].dim() > 1:
            # A weight for each class.
            yield from _channels(trial, call, operands[0], operands[2].shape[0])
        yield from _classes(trial, operands[0], operands[1])
    elif name in _OF_ONE_NUMBER and operands and operands[0].numel() > 1:
        yield from _numbers_of(trial, tuple(operands[0].shape))
    elif name == "getitem" and operands and isinstance(call.args[1], str):
        # The message varies with the length of the key: torch takes a string for a sequence of indices.
        for path, tensor in tensors(trial):
            if path[0] == "fed" and (path, tensor) in list(_same(trial, operands[0])):
                yield changed(trial, path, Open(name_of(path), 2, fed=True))
    elif BROADCASTING.fullmatch(name) and len(operands) > 1:
        yield from _broadcast(trial, operands[0], operands[1])
    elif operands and len(call.args) > 1:
        yield from _of_argument(trial, name, call, operands[0])


def _of_argument(trial: Trial, name: str, call: Call, operand: torch.Tensor) -> Iterator[Trial]:
    """What is to be done with one tensor says of it."""
    if "_pool" in name:
        yield from _pooled(trial, operand, call.args[1])
    elif name == "setitem" and type(call.args[1]) is int:
        yield from _items(trial, operand)
    elif name == "pad":
        yield from _padded(trial, operand, call)
    elif name in ("expand", "expand_as"):
        yield from _expanded(trial, operand, call)


def edges_differ(call: Call) -> bool:
    """Whether the maps that a call takes together have different edges."""
    edges = {tuple(each.shape[2:]) for each in _taken(call) if each.dim() >= 4}
    return len(edges) > 1 and not call.name.strip("_").startswith("conv")


def takes_mask(call: Call) -> bool:
    """Whether a call takes what is true or false beside other tensors."""
    return any(each.dtype == torch.bool for each in _taken(call))


def _taken(call: Call) -> list[torch.Tensor]:
    """The tensors among the arguments, those in lists too."""
    values = [item for arg in call.args for item in (arg if isinstance(arg, (list, tuple)) else [arg])]
    return [each for each in values if isinstance(each, torch.Tensor)]


def _same(trial: Trial, operand: torch.Tensor) -> Iterator[tuple[Any, Tensor]]:
    """The inputs that ``operand`` may be: those of its shape."""
    shape = tuple(operand.shape)
    for path, tensor in tensors(trial):
        if tensor.shape == shape:
            yield path, tensor


def _floats(trial: Trial, operand: torch.Tensor) -> Iterator[Trial]:
    if not operand.is_floating_point():
        yield from retyped(trial, operand, "float")


def retyped(trial: Trial, operand: torch.Tensor, dtype: Any) -> Iterator[Trial]:
    """Trials with inputs of another type: first those of the operand's shape."""
    found = [path for path, tensor in _same(trial, operand) if tensor.dtype != dtype]
    others = [path for path, tensor in tensors(trial) if tensor.dtype != dtype and path not in found]
    for path in (*found, *others):
        tensor = dict(tensors(trial))[path]
        yield changed(trial, path, replace(tensor, dtype=dtype))


def _convolution(trial: Trial, call: Call, operands: list[torch.Tensor]) -> Iterator[Trial]:
    operand, weight = operands[0], operands[1]
    dimensions = weight.dim() - 2
    channels = channels_of(call, weight)
    yield from _floats(trial, operand)
    if operand.dim() != dimensions + 2:
        for path, _ in _same(trial, operand):
            yield changed(trial, path, replace(spatial(channels, dimensions), dtype="float"))
        yield from reranked(trial, operand.dim(), dimensions + 2)
        return
    if operand.shape[1] != channels:
        yield from refitted(trial, call.joins, operand.shape[1], channels)
        yield from of_share(trial, operand.shape[1], channels)
        yield from split(trial, operand.shape[1], channels)
        yield from equalised(trial, operand.shape[1], channels)
        if operand.shape[-1] == channels:
            yield from _moved(trial, operand)
        return
    smallest = min(operand.shape[2:])
    for kernel in dict.fromkeys(weight.shape[2:]):
        if kernel > smallest:
            yield from _smaller(trial, kernel)
    yield from resized(trial, (max(weight.shape[2:]) / max(smallest, 1) * 2) ** dimensions)


def channels_of(call: Call, weight: torch.Tensor) -> int:
    """The channels that a convolution with this weight takes."""
    groups = call.kwargs.get("groups", call.args[6] if len(call.args) > 6 else 1)
    if "transpose" in call.name:
        return weight.shape[0]
    return weight.shape[1] * (groups if isinstance(groups, int) else 1)


def _indexed(trial: Trial, call: Call, given: torch.Tensor, index: torch.Tensor) -> Iterator[Trial]:
    """Labels: of the shape of what they are an index of, but for the dimension that they choose from."""
    dim = next((arg for arg in (*call.args[1:2], call.kwargs.get("dim")) if isinstance(arg, int)), None)
    if index.dtype != torch.long or index.dim() != given.dim():
        shape = tuple(given.shape)
        chosen = [] if dim is None or not shape else [shape[: dim % len(shape)] + shape[dim % len(shape) + 1 :]]
        for path, tensor in reversed(tensors(trial)):
            if path[0] == "fed" and tensor.shape != shape[:-1]:
                yield from (changed(trial, path, Tensor(labels, "long")) for labels in (*chosen, shape))
    if index.dim() > given.dim():
        yield from _scores(trial, given)
    yield from retyped(trial, index, "long")


def _labels(trial: Trial, operand: torch.Tensor) -> Iterator[Trial]:
    """Labels: of the shape of the scores but for their classes, which are behind the batch, or last."""
    shape = tuple(operand.shape)
    for path, _ in _same(trial, operand):
        yield changed(trial, path, Tensor((shape[0], *shape[2:]), "long"))
        yield changed(trial, path, Tensor(shape[:-1], "long"))


def _scores(trial: Trial, given: torch.Tensor) -> Iterator[Trial]:
    """Scores for each step of a sequence, and one label, mask or weight a step for what was of the same shape."""
    alike = [path for path, tensor in tensors(trial) if path[0] == "fed" and tensor.shape == tuple(given.shape)]
    if len(alike) > 1:
        steps = changed(trial, alike[0], Tensor((BATCH, SEQUENCE, given.shape[1])))
        for path in alike[1:]:
            steps = changed(steps, path, Tensor((BATCH, SEQUENCE)))
        yield from (changed(steps, path, Tensor((BATCH, SEQUENCE), "long")) for path in alike[1:])


def _smaller(trial: Trial, kernel: int) -> Iterator[Trial]:
    """A kernel that is no size of features, although it was taken for one."""
    for path, part in numbers(trial):
        if path[0] == "made" and number_of(part) == kernel:
            yield from (changed(trial, path, with_number(part, size)) for size in (3, 2, 1))


def _pooled(trial: Trial, operand: torch.Tensor, kernel: Any) -> Iterator[Trial]:
    sizes = [each for each in (kernel if isinstance(kernel, (tuple, list)) else [kernel]) if isinstance(each, int)]
    size, dimensions = max(sizes, default=0), operand.dim() - 2
    if dimensions > 0 and min(operand.shape[2:]) < size:
        yield from resized(trial, (size / max(min(operand.shape[2:]), 1)) ** dimensions)


def _items(trial: Trial, operand: torch.Tensor) -> Iterator[Trial]:
    """A list, whose items are replaced by others of any shape: of a tensor they would have to keep theirs."""
    for path, tensor in _same(trial, operand):
        for count in (_LISTED, 2, 4):
            each = tensor if len(tensor.shape) == 4 else of_rank(tensor, 4)
            yield changed(trial, path, several(each, count))


def _expanded_to(call: Call) -> tuple[int, ...]:
    """The sizes that a tensor is to be expanded to."""
    given = call.args[1] if len(call.args) == 2 else call.args[1:]
    sizes = given.shape if isinstance(given, torch.Tensor) else given if isinstance(given, (tuple, list)) else (given,)
    return tuple(size for size in sizes if isinstance(size, int))


def _expanded(trial: Trial, operand: torch.Tensor, call: Call) -> Iterator[Trial]:
    """A tensor that has more dimensions than it is to be expanded to, or others."""
    sizes, old = _expanded_to(call), tuple(operand.shape)
    if len(old) > len(sizes):
        # A size of -1 is kept.
        wanted = tuple(old[index] if size < 0 else size for index, size in enumerate(sizes))
        yield from rearranged(trial, old, wanted)
        yield from reranked(trial, len(old), len(wanted))
    elif call.name == "expand_as":
        yield from _broadcast(trial, operand, call.args[1])


def _padded(trial: Trial, operand: torch.Tensor, call: Call) -> Iterator[Trial]:
    """Two numbers for each dimension behind the channels: all but constants need a batch of maps with channels."""
    rank = len(call.args[1]) // 2 + 2 if isinstance(call.args[1], (tuple, list)) else operand.dim()
    if operand.dim() != rank and call.kwargs.get("mode", (*call.args, "constant")[2]) != "constant":
        yield from reranked(trial, operand.dim(), rank)


def _moved(trial: Trial, operand: torch.Tensor) -> Iterator[Trial]:
    """Channels last instead of first, or the other way round."""
    for path, tensor in _same(trial, operand):
        yield changed(trial, path, replace(tensor, shape=(tensor.shape[0], tensor.shape[-1], *tensor.shape[1:-1])))


def _features(trial: Trial, call: Call, operand: torch.Tensor, want: int) -> Iterator[Trial]:
    if operand.dim() == 0:
        yield from reranked(trial, 0, 2)
        return
    got = operand.shape[-1]
    if got == want:
        return
    for path, tensor in _same(trial, operand):
        yield changed(trial, path, replace(tensor, shape=(*tensor.shape[:-1], want)))
    yield from refitted(trial, call.joins, got, want)
    yield from of_share(trial, got, want)
    yield from split(trial, got, want)
    if operand.dim() == 2:
        # Most likely an image was flattened.
        yield from islice(resized(trial, want / max(got, 1)), 2)
        yield from trimmed(trial, got, want)
    yield from equalised(trial, got, want)
    yield from resized(trial, want / max(got, 1))
    for path, tensor in _same(trial, operand):
        if len(tensor.shape) == 4:
            yield changed(trial, path, replace(tensor, shape=(BATCH, SEQUENCE, want)))
            yield changed(trial, path, replace(tensor, shape=(BATCH, want)))


def _layer_norm(trial: Trial, call: Call, operand: torch.Tensor) -> Iterator[Trial]:
    size = next((value for value in call.args[1:] if isinstance(value, (tuple, list))), ())
    if len(size) > 2 and operand.dim() > len(size):
        # A map, with its edges.
        yield from resized(trial, prod(size[1:]) / max(prod(operand.shape[1 - len(size) :]), 1))
    if size:
        yield from _features(trial, call, operand, size[-1])


def _channels(trial: Trial, call: Call, operand: torch.Tensor, want: int) -> Iterator[Trial]:
    if operand.dim() > 1 and operand.shape[1] != want:
        for path, tensor in _same(trial, operand):
            yield changed(trial, path, replace(tensor, shape=(tensor.shape[0], want, *tensor.shape[2:])))
        yield from refitted(trial, call.joins, operand.shape[1], want)
        if operand.dim() == 2:
            # Most likely an image was flattened.
            yield from islice(resized(trial, want / max(operand.shape[1], 1)), 2)
        yield from equalised(trial, operand.shape[1], want)


def _of_ranks(trial: Trial, operands: list[torch.Tensor], rank: int | None) -> Iterator[Trial]:
    for operand in operands:
        if rank is not None and operand.dim() != rank:
            yield from reranked(trial, operand.dim(), rank)


def _product(trial: Trial, call: Call, operands: list[torch.Tensor]) -> Iterator[Trial]:
    if len(operands) < 2:
        return
    one, other = operands
    if one.dtype != other.dtype:
        yield from _floats(trial, one)
        yield from _floats(trial, other)
    if not one.dim() or not other.dim():
        yield from reranked(trial, 0, 2)
        return
    yield from _batches(trial, one, other)
    got, want = one.shape[-1], other.shape[-2 if other.dim() > 1 else -1]
    yield from refitted(trial, call.joins, got, want)
    yield from split(trial, got, want)
    yield from equalised(trial, got, want)
    yield from resized(trial, want / max(got, 1))
    for left, right in zip(reversed(one.shape[:-2]), reversed(other.shape[:-2]), strict=False):
        if left != right and 1 not in (left, right):
            yield from equalised(trial, left, right)
    if one.dim() != other.dim():
        yield from reranked(trial, other.dim(), one.dim())
        yield from reranked(trial, one.dim(), other.dim())


def _batches(trial: Trial, one: torch.Tensor, other: torch.Tensor) -> Iterator[Trial]:
    """Two batches of matrices that differ in how many they are and in the sizes of each: both change at once."""
    if one.dim() == other.dim() == 3 and one.shape[0] != other.shape[0] and one.shape[2] != other.shape[1]:
        yield from rearranged(trial, tuple(other.shape), (one.shape[0], one.shape[2], other.shape[2]))
        yield from rearranged(trial, tuple(one.shape), (other.shape[0], one.shape[1], other.shape[1]))


def _joined(trial: Trial, operands: list[Any]) -> Iterator[Trial]:
    shapes = [tuple(item.shape) for item in operands if isinstance(item, torch.Tensor)]
    for other in shapes[1:]:
        first = shapes[0]
        if len(first) != len(other):
            yield from reranked(trial, len(other), len(first))
            yield from reranked(trial, len(first), len(other))
            continue
        if len(first) == 3 and first[:2] == other[:2]:
            # Joined behind the batch: features, not sequences of them.
            yield step_of(trial)
        if len(first) >= 4 and first[2:] != other[2:]:
            yield from pyramids(trial)
            yield from _with_edges(trial, other[2:], first[2:])
        for left, right in zip(first, other, strict=True):
            if left != right:
                yield from equalised(trial, right, left)
        for left, right in zip(first[2:], other[2:], strict=True):
            if left != right:
                # A way down and up again by halves: the edge must be divisible.
                yield from resized(trial, 1.0)
                return


def _with_edges(trial: Trial, old: tuple[int, ...], new: tuple[int, ...]) -> Iterator[Trial]:
    """Trials with all edges of a map changed at once: one alone would still not fit."""
    for path, tensor in tensors(trial):
        if tensor.shape[-len(old) :] == old and len(tensor.shape) > len(old) + 1:
            yield changed(trial, path, replace(tensor, shape=tensor.shape[: -len(old)] + new))


def _with_all_edges(trial: Trial, one: torch.Tensor, other: torch.Tensor) -> Iterator[Trial]:
    """Trials in which all edges of a map that differ change at once: one alone would still not fit."""
    differing = 0
    for left, right in zip(reversed(one.shape[2:]), reversed(other.shape[2:]), strict=False):
        if left == right or 1 in (left, right):
            break
        differing += 1
    if differing > 1:
        old, new = tuple(one.shape[-differing:]), tuple(other.shape[-differing:])
        yield from _with_edges(trial, old, new)
        yield from _with_edges(trial, new, old)


def _numbers_of(trial: Trial, shape: tuple[int, ...]) -> Iterator[Trial]:
    """Trials in which what was read as one number is one: an input, or each of its rows."""
    for path, tensor in tensors(trial):
        if path[0] == "fed" and tensor.shape == shape:
            yield changed(trial, path, replace(tensor, shape=(1,)))
        elif path[0] == "fed" and tensor.shape[1:] == shape:
            yield changed(trial, path, Tensor(tensor.shape[:1], "long"))
            yield changed(trial, path, replace(tensor, shape=tensor.shape[:1]))


def _broadcast(trial: Trial, one: torch.Tensor, other: torch.Tensor) -> Iterator[Trial]:
    if one.dim() == other.dim() >= 4 and one.shape[:2] == other.shape[:2]:
        yield from pyramids(trial)
    pairs = list(zip_longest(reversed(one.shape), reversed(other.shape), fillvalue=1))
    mismatched = [(left, right) for left, right in pairs if left != right and 1 not in (left, right)]
    if len(mismatched) > 1:
        # None of them would do alone.
        yield from _fitted(trial, other, one)
        yield from _fitted(trial, one, other)
    if len(mismatched) > 1 and len(set(mismatched)) == 1:
        # A map that the model holds, such as one of positions, fits the maps of images of one size.
        left, right = mismatched[0]
        yield from with_edges_times(trial, right, left)
        yield from with_edges_times(trial, left, right)
    for left, right in mismatched:
        yield from equalised(trial, right, left)
    yield from _with_all_edges(trial, one, other)
    if mismatched:
        yield from _like_each_other(trial, one, other)
    if mismatched and one.dim() == other.dim() >= 4:
        yield from resized(trial, 1.0)


def _fitted(trial: Trial, operand: torch.Tensor, beside: torch.Tensor) -> Iterator[Trial]:
    """Trials in which an operand that is an input gets all sizes of the other that do not fit."""
    shape, wanted = tuple(operand.shape), tuple(beside.shape)
    kept = len(shape) - len(wanted)
    own = (1,) * -kept + shape
    sizes = [left if 1 in (left, right) else right for left, right in zip(own[max(kept, 0) :], wanted, strict=True)]
    yield from rearranged(trial, shape, (*shape[: max(kept, 0)], *sizes)[-len(shape) :])


def _like_each_other(trial: Trial, one: torch.Tensor, other: torch.Tensor) -> Iterator[Trial]:
    """Trials in which one of two operands is an input of the shape of the other."""
    for operand, twin in ((other, one), (one, other)):
        for path, tensor in _same(trial, operand):
            yield changed(trial, path, replace(tensor, shape=tuple(twin.shape)))


def _classes(trial: Trial, scores: torch.Tensor, classes: torch.Tensor) -> Iterator[Trial]:
    shape = (scores.shape[0], *scores.shape[2:])
    for path, _ in _same(trial, classes):
        yield changed(trial, path, Tensor(shape, "long"))
    for path, _ in reversed(tensors(trial)):
        yield changed(trial, path, Tensor(shape, "long"))
    # Both may have been flattened: classes are the last dimension, or the one behind the batch.
    given = [(path, tensor) for path, tensor in tensors(trial) if path[0] == "fed"]
    for (_, one), (path, _) in permutations(given, 2):
        yield changed(trial, path, Tensor(one.shape[:-1], "long"))
        yield changed(trial, path, Tensor(one.shape[:1] + one.shape[2:], "long"))


def reranked(trial: Trial, old: int, new: int) -> Iterator[Trial]:
    """Trials in which an input has another rank, or is shorter or longer by as much; its channels stay."""
    if not 0 <= new <= 6:
        return
    exact = [item for item in tensors(trial) if len(item[1].shape) == old]
    others = [item for item in tensors(trial) if len(item[1].shape) != old]
    by = new - old
    for path, tensor in (*exact, *others):
        if 0 <= len(tensor.shape) + by <= 6:
            yield _with_ranks(trial, [(path, tensor)], by)
    together = exact or others
    yield _with_ranks(trial, together, by)
    if len(together) > 2:
        # One may be what the others are compared with.
        yield from (_with_ranks(trial, [other for other in together if other is not each], by) for each in together)


def _with_ranks(trial: Trial, several: Iterable[tuple[Path, Tensor]], by: int) -> Trial:
    """The trial in which these tensors have so many more dimensions."""
    for path, tensor in several:
        rank = max(len(tensor.shape) + by, 0)
        other = replace(tensor, shape=(trial.uniform,) * rank) if trial.uniform else of_rank(tensor, rank)
        trial = changed(trial, path, other)
    return trial


def of_rank(tensor: Tensor, rank: int) -> Tensor:
    """The tensor with another rank, as one would expect it to be then."""
    shape = tensor.shape
    if len(shape) == rank:
        return tensor
    if tensor.dtype != "float":
        return replace(tensor, shape=(shape + (SEQUENCE,) * rank)[:rank])
    channels = shape[1] if len(shape) >= 4 else (shape[-1] if shape else 1)
    if rank >= 4:
        return (
            spatial(channels, rank - 2)
            if rank <= 5
            else Tensor((BATCH, SEQUENCE, *spatial(channels, rank - 3).shape[1:]))
        )
    return Tensor(((), (channels,), (BATCH, channels), (BATCH, SEQUENCE, channels))[rank])
