"""Ranks and types of tensors: by the operands of the call that raised, and by its message."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from itertools import permutations
from math import prod

import torch

from ..evidence import Evidence
from ..priors.layers import spatial
from ..priors.tables import BATCH, MASK, SEQUENCE
from ..trials.runner import TorchCall
from ..trials.values import (
    DType,
    Edit,
    Open,
    Path,
    Tensor,
    Text,
    Trial,
    input_tensors,
    name_of,
    tensors,
)
from .registry import rule

_HIGHEST = 6
_RANKS = {"bmm": 3, "baddbmm": 3, "mm": 2, "addmm": 2, "sparse_mm": 2, "spmm": 2}
PRODUCTS = frozenset({"matmul", "rmatmul", *_RANKS})


def calls(*names: str) -> Callable[[Evidence], bool]:
    """Return a condition: one of these functions of torch's raised."""
    return lambda evidence: evidence.call is not None and evidence.call.function in names


def is_of_wrong_rank(call: TorchCall) -> bool:
    """Return whether a product of matrices, or of batches of them, is given something else."""
    return call.function in _RANKS and any(each.dim() != _RANKS[call.function] for each in call.taken[-2:])


def call_of(evidence: Evidence) -> TorchCall:
    """Return the call that raised, for rules that apply only if there is one."""
    assert evidence.call is not None
    return evidence.call


def is_convolution(evidence: Evidence) -> bool:
    """Return whether a convolution raised."""
    call = evidence.call
    return call is not None and call.function.startswith("conv") and len(call.operands) > 1


def same(trial: Trial, operand: torch.Tensor) -> Iterator[tuple[Path, Tensor]]:
    """Yield the tensors of the trial that ``operand`` may be: those of its shape."""
    shape = tuple(operand.shape)
    return ((path, tensor) for path, tensor in tensors(trial) if tensor.shape == shape)


def reranked(trial: Trial, old: int, new: int) -> Iterator[Edit]:
    """Yield edits with a tensor of another rank, or shorter or longer by as much; its channels stay."""
    if not 0 <= new <= _HIGHEST:
        return
    exact = [item for item in tensors(trial) if len(item[1].shape) == old]
    others = [item for item in tensors(trial) if len(item[1].shape) != old]
    by = new - old
    for path, tensor in (*exact, *others):
        if 0 <= len(tensor.shape) + by <= _HIGHEST:
            yield _longer(trial, [(path, tensor)], by)
    together = exact or others
    yield _longer(trial, together, by)
    if len(together) > 2:
        # One may be what the others are compared with.
        yield from (_longer(trial, [other for other in together if other is not each], by) for each in together)


def _longer(trial: Trial, changed: Iterable[tuple[Path, Tensor]], by: int) -> Edit:
    """Return an edit in which these tensors have so many more dimensions."""
    edit: dict[Path, Tensor] = {}
    for path, tensor in changed:
        rank = max(len(tensor.shape) + by, 0)
        edit[path] = replace(tensor, shape=(trial.uniform,) * rank) if trial.uniform else of_rank(tensor, rank)
    return edit


def of_rank(tensor: Tensor, rank: int) -> Tensor:
    """Return the tensor with another rank, as one would expect it to be then."""
    shape = tensor.shape
    if len(shape) == rank:
        return tensor
    if tensor.dtype != "float":
        return replace(tensor, shape=(shape + (SEQUENCE,) * rank)[:rank])
    channels = shape[1] if len(shape) >= 4 else (shape[-1] if shape else 1)
    if rank > 5:
        return Tensor((BATCH, SEQUENCE, *spatial(channels, rank - 3).shape[1:]))
    if rank >= 4:
        return spatial(channels, rank - 2)
    return Tensor(((), (channels,), (BATCH, channels), (BATCH, SEQUENCE, channels))[rank])


def retyped(trial: Trial, operand: torch.Tensor, dtype: DType) -> Iterator[Edit]:
    """Yield edits with tensors of another type: first those of the operand's shape."""
    alike = [path for path, _ in same(trial, operand)]
    other = [(path, tensor) for path, tensor in tensors(trial) if tensor.dtype != dtype]
    for path, tensor in sorted(other, key=lambda item: item[0] not in alike):
        yield {path: replace(tensor, dtype=dtype)}


# By the call that raised.


@rule("mask beside other tensors", "call", lambda evidence: evidence.call is not None)
def _masks_of_call(evidence: Evidence) -> Iterator[Edit]:
    """Give a mask that a call takes beside other tensors another shape, or none."""
    if any(each.dtype == torch.bool for each in call_of(evidence).taken):
        yield from _other_masks(evidence.trial, evidence.words)


def _other_masks(trial: Trial, words: set[str]) -> Iterator[Edit]:
    """Yield other shapes for masks: nothing but its use says which a mask has.

    Those named by ``words`` if there are any, or all if these name a mask: it may have been handed on.
    """
    is_any = not words or any(MASK.fullmatch(word) for word in words)
    for key, part in trial.inputs.items if trial.inputs is not None else ():
        name, path = key.rstrip("="), ("inputs", key)
        if isinstance(part, Tensor) and MASK.fullmatch(name) and (is_any or name in words):
            length = part.shape[-1] if part.shape else SEQUENCE
            yield {path: Text("None")}
            square = (length, length)
            for shape in ((BATCH, *square), square, (BATCH, 1, 1, length), (BATCH, 1, *square)):
                yield {path: replace(part, shape=shape)}


@rule("rank for a convolution", "call", is_convolution)
def _rank_for_convolution(evidence: Evidence) -> Iterator[Edit]:
    """Give a convolution as many dimensions as its kernel has, with a batch and channels."""
    call = call_of(evidence)
    operand, weight = call.operands[:2]
    dimensions = weight.dim() - 2
    if operand.dim() != dimensions + 2:
        yield from ({path: spatial(channels_of(call, weight), dimensions)} for path, _ in same(evidence.trial, operand))
        yield from reranked(evidence.trial, operand.dim(), dimensions + 2)


def channels_of(call: TorchCall, weight: torch.Tensor) -> int:
    """Return the channels that a convolution with this weight takes."""
    groups = call.kwargs.get("groups", call.args[6] if len(call.args) > 6 else 1)
    if "transpose" in call.name:
        return weight.shape[0]
    return weight.shape[1] * (groups if isinstance(groups, int) else 1)


@rule("rank for a product", "call", calls(*PRODUCTS))
def _rank_for_product(evidence: Evidence) -> Iterator[Edit]:
    """Give a product of matrices operands of its rank, and of one type."""
    call, trial = call_of(evidence), evidence.trial
    wanted, operands = _RANKS.get(call.function), call.operands[-2:]
    for operand in operands:
        if wanted is not None and operand.dim() != wanted:
            yield from reranked(trial, operand.dim(), wanted)
    if len(operands) == 2 and operands[0].dtype != operands[1].dtype:
        for operand in operands:
            if not operand.is_floating_point():
                yield from retyped(trial, operand, "float")
    if len(operands) == 2 and not all(operand.dim() for operand in operands):
        yield from reranked(trial, 0, 2)


@rule("one rank for what is joined", "call", calls("cat", "stack", "concat", "concatenate", "hstack", "vstack"))
def _rank_for_joined(evidence: Evidence) -> Iterator[Edit]:
    """Give tensors that are joined one rank."""
    ranks = [each.dim() for each in call_of(evidence).taken]
    for other in ranks[1:]:
        if other != ranks[0]:
            yield from reranked(evidence.trial, other, ranks[0])
            yield from reranked(evidence.trial, ranks[0], other)


@rule("integers for a table", "call", calls("embedding", "embedding_bag", "one_hot", "index_select"))
def _integers_for_table(evidence: Evidence) -> Iterator[Edit]:
    """Give a table integers to look up; of one-hot labels the shape of the scores without their classes."""
    call, trial = call_of(evidence), evidence.trial
    for operand in call.operands if call.function != "embedding" else call.operands[:1]:
        yield from retyped(trial, operand, "long")
        if call.function == "one_hot" and operand.dim() > 1:
            shape = tuple(operand.shape)
            for path, _ in same(trial, operand):
                yield {path: Tensor((shape[0], *shape[2:]), "long")}
                yield {path: Tensor(shape[:-1], "long")}


@rule("labels to gather by", "call", calls("gather", "scatter", "scatter_add"))
def _labels_to_gather(evidence: Evidence) -> Iterator[Edit]:
    """Give labels the shape of what they index, but for the dimension that they choose from."""
    call, trial = call_of(evidence), evidence.trial
    if len(call.operands) < 2:
        return
    given, index = call.operands[:2]
    shape = tuple(given.shape)
    dim = next((arg for arg in (*call.args[1:2], call.kwargs.get("dim")) if isinstance(arg, int)), None)
    chosen = [] if dim is None or not shape else [shape[: dim % len(shape)] + shape[dim % len(shape) + 1 :]]
    if index.dtype != torch.long or index.dim() != given.dim() or any(index.numel() > prod(each) for each in chosen):
        for path, tensor in reversed(input_tensors(trial)):
            if tensor.shape != shape[:-1]:
                yield from ({path: Tensor(labels, "long")} for labels in (*chosen, shape))
    if index.dim() > given.dim():
        yield from _scores_of_steps(trial, shape)
    yield from retyped(trial, index, "long")


def _scores_of_steps(trial: Trial, shape: tuple[int, ...]) -> Iterator[Edit]:
    """Yield scores for each step of a sequence, and one label a step for what was of the same shape."""
    alike = [path for path, tensor in input_tensors(trial) if tensor.shape == shape]
    if len(alike) > 1:
        steps: dict[Path, Tensor] = {path: Tensor((BATCH, SEQUENCE)) for path in alike[1:]}
        steps[alike[0]] = Tensor((BATCH, SEQUENCE, shape[1]))
        yield from ({**steps, path: Tensor((BATCH, SEQUENCE), "long")} for path in alike[1:])


@rule("classes for a loss", "call", calls("cross_entropy", "nll_loss"))
def _classes_for_loss(evidence: Evidence) -> Iterator[Edit]:
    """Give a loss classes of the shape of the scores, but for their dimension."""
    operands, trial = call_of(evidence).operands, evidence.trial
    if len(operands) < 2 or not operands[0].dim():
        return
    scores, classes = operands[:2]
    labels = Tensor((scores.shape[0], *scores.shape[2:]), "long")
    yield from ({path: labels} for path, _ in same(trial, classes))
    yield from ({path: labels} for path, _ in reversed(tensors(trial)))
    # Both may have been flattened: classes are the last dimension, or the one behind the batch.
    for (_, one), (path, _) in permutations(input_tensors(trial), 2):
        yield {path: Tensor(one.shape[:-1], "long")}
        yield {path: Tensor(one.shape[:1] + one.shape[2:], "long")}


@rule("one number", "call", calls("int", "float", "index", "item"))
def _one_number(evidence: Evidence) -> Iterator[Edit]:
    """Give one number where a tensor was read as one: an input, or each of its rows."""
    operand = next(iter(call_of(evidence).operands), None)
    if operand is None or operand.numel() <= 1:
        return
    for path, tensor in input_tensors(evidence.trial):
        if tensor.shape == tuple(operand.shape):
            yield {path: replace(tensor, shape=(1,))}
        elif tensor.shape[1:] == tuple(operand.shape):
            yield {path: Tensor(tensor.shape[:1], "long")}
            yield {path: replace(tensor, shape=tensor.shape[:1])}


@rule("object with keys", "call", calls("getitem"))
def _object_with_keys(evidence: Evidence) -> Iterator[Edit]:
    """Make an input that is indexed by a string a dict or an object."""
    call = call_of(evidence)
    # The message varies with the length of the key: torch takes a string for a sequence of indices.
    if call.operands and isinstance(call.args[1], str):
        for path, _ in same(evidence.trial, call.operands[0]):
            if path[0] == "inputs":
                yield {path: Open(name_of(path), 2, is_input=True)}


@rule("rank for a padding", "call", calls("pad"))
def _rank_for_padding(evidence: Evidence) -> Iterator[Edit]:
    """Give a padding two numbers for each dimension behind a batch and channels, as all but constants need."""
    call = call_of(evidence)
    if call.operands and len(call.args) > 1 and isinstance(call.args[1], (tuple, list)):
        got, rank = call.operands[0].dim(), len(call.args[1]) // 2 + 2
        if got != rank and call.kwargs.get("mode", (*call.args, "constant")[2]) != "constant":
            yield from reranked(evidence.trial, got, rank)


@rule("other masks", "optional", lambda evidence: evidence.is_called)
def _masks(evidence: Evidence) -> Iterator[Edit]:
    """Give masks other shapes, or none, whatever failed."""
    yield from _other_masks(evidence.trial, set())
