"""Sizes that have to agree, by the operands of the call that raised."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import islice, zip_longest
from math import prod
from typing import Any

import torch

from ..evidence import Evidence
from ..priors.tables import BATCH, SEQUENCE
from ..size_edits import (
    Shape,
    equalised,
    one_step,
    rearranged,
    resized,
    with_edges_times,
    with_summands,
)
from ..trials.runner import TorchCall
from ..trials.values import (
    Edit,
    Trial,
    init_numbers,
    number_of,
    tensors,
    with_dimension,
    with_number,
)
from .ranks_dtypes import PRODUCTS, call_of, calls, channels_of, is_convolution, reranked, same
from .registry import rule
from .sequences import pyramids

ReadMisfit = Callable[[Evidence, "Misfit"], Iterator[Edit]]
NORMALISATIONS = frozenset({"batch_norm", "instance_norm", "group_norm"})
LOSSES = frozenset({"cross_entropy", "nll_loss"})
BROADCASTING = re.compile(
    r"""add|sub|mul|div|truediv|iadd|isub|imul|idiv|itruediv|radd|rsub|rmul|rtruediv|where|lerp|maximum
    |minimum|pow|eq|ne|lt|gt|le|ge|bitwise_and|bitwise_or|logical_and|logical_or|and|or|masked_fill
    |addcmul|addcdiv|binary_cross_entropy_with_logits|binary_cross_entropy|mse_loss|l1_loss
    |smooth_l1_loss|kl_div|huber_loss|copy|fmod|remainder|atan2|max|min|dist""",
    re.VERBOSE,
)
"""Functions of two tensors whose sizes have to be equal, or one of them 1."""


@dataclass(frozen=True)
class Misfit:
    """A size of an operand that is not the one that the call needs."""

    operand: torch.Tensor
    dimension: int
    want: int

    @property
    def got(self) -> int:
        """The size that it has."""
        return self.operand.shape[self.dimension]

    @property
    def is_flattened(self) -> bool:
        """Whether the operand is most likely a map that was flattened."""
        return self.operand.dim() == 2


def misfit_of(call: TorchCall) -> Misfit | None:
    """Return which size of an operand does not fit; None if that is not known."""
    found = _needed(call, call.function, call.operands)
    return None if found is None or found.got == found.want else found


def _needed(call: TorchCall, name: str, given: list[torch.Tensor]) -> Misfit | None:
    if not given or not given[0].dim():
        return None
    size = next((value for value in call.args[1:] if isinstance(value, (tuple, list))), ())
    if name == "layer_norm" and size:
        return Misfit(given[0], -1, size[-1])
    if name.startswith("conv") and len(given) > 1:
        return Misfit(given[0], 1, channels_of(call, given[1])) if given[0].dim() == given[1].dim() else None
    if name == "multi_head_attention_forward":
        return _of_attention(call, given)
    if name.endswith("_cell") and len(call.args) > 2:
        return Misfit(given[0], -1, call.args[2].shape[-1])
    if len(given) > 1 and name == "linear":
        return Misfit(given[0], -1, given[1].shape[-1])
    if len(given) > 1 and name in NORMALISATIONS and given[0].dim() > 1:
        return Misfit(given[0], 1, given[-1].shape[0])
    if len(given) > 2 and name in LOSSES and given[0].dim() > 1:
        # A weight for each class.
        return Misfit(given[0], 1, given[2].shape[0])
    if len(given) > 1 and name in PRODUCTS and given[-1].dim() and given[-2].dim():
        return Misfit(given[-2], -1, given[-1].shape[-2 if given[-1].dim() > 1 else -1])
    return None


def _of_attention(call: TorchCall, given: list[torch.Tensor]) -> Misfit:
    """Return which of query, key and value has not as many features as its projection takes, else the query."""
    is_separate = call.kwargs.get("use_separate_proj_weight")
    weights = [call.kwargs.get(f"{each}_proj_weight") if is_separate else None for each in "qkv"]
    wanted = [weight.shape[-1] if isinstance(weight, torch.Tensor) else call.args[3] for weight in weights]
    found = [Misfit(tensor, -1, size) for tensor, size in zip(given, wanted, strict=False)]
    return next((each for each in found if each.got != each.want), found[0])


def _misfit(evidence: Evidence) -> Misfit | None:
    return None if evidence.call is None else misfit_of(evidence.call)


def fit_rule(name: str) -> Callable[[ReadMisfit], ReadMisfit]:
    """Register a rule that reads which size of an operand does not fit."""

    def registered(read: ReadMisfit) -> ReadMisfit:
        def suggest(evidence: Evidence) -> Iterator[Edit]:
            found = _misfit(evidence)
            if found is not None:
                yield from read(evidence, found)

        suggest.__doc__, suggest.__module__ = read.__doc__, read.__module__
        rule(name, "call", lambda evidence: _misfit(evidence) is not None)(suggest)
        return read

    return registered


@rule("two batches of matrices", "call", calls(*PRODUCTS))
def _batches(evidence: Evidence) -> Iterator[Edit]:
    """Change two batches at once that differ in how many matrices they have and in the sizes of each."""
    one, other = (*call_of(evidence).operands[-2:], torch.empty(()))[:2]
    if one.dim() == other.dim() == 3 and one.shape[0] != other.shape[0] and one.shape[2] != other.shape[1]:
        yield from rearranged(evidence.trial, tuple(other.shape), (one.shape[0], one.shape[2], other.shape[2]))
        yield from rearranged(evidence.trial, tuple(one.shape), (other.shape[0], one.shape[1], other.shape[1]))


@rule("whole map that is normalised", "call", calls("layer_norm"))
def _whole_map(evidence: Evidence) -> Iterator[Edit]:
    """Give a layer normalisation of whole maps one of their size."""
    call = call_of(evidence)
    size = next((value for value in call.args[1:] if isinstance(value, (tuple, list))), ())
    if call.operands and len(size) > 2 and call.operands[0].dim() > len(size):
        got = prod(call.operands[0].shape[1 - len(size) :])
        yield from resized(evidence.trial, prod(size[1:]) / max(got, 1))


@fit_rule("input that does not fit")
def _operand(evidence: Evidence, misfit: Misfit) -> Iterator[Edit]:
    """Give an input that is the operand the size that is needed."""
    for path, tensor in same(evidence.trial, misfit.operand):
        yield {path: with_dimension(tensor, misfit.dimension, misfit.want)}


@fit_rule("joined inputs")
def _joined_inputs(evidence: Evidence, misfit: Misfit) -> Iterator[Edit]:
    """Give inputs that were joined the sizes of arguments whose sum is needed: all change at once."""
    held = () if evidence.outcome.model is None else vars(evidence.outcome.model).values()
    numbers = (value for value in held if type(value) is int and 0 < value < misfit.want)
    yield from with_summands(evidence.trial, misfit.got, misfit.want, numbers)


@fit_rule("map that was flattened")
def _flattened(evidence: Evidence, misfit: Misfit) -> Iterator[Edit]:
    """Give a map that was flattened as many positions as are needed."""
    if misfit.is_flattened and not calls(*PRODUCTS)(evidence):
        yield from islice(resized(evidence.trial, misfit.want / max(misfit.got, 1)), 2)


@fit_rule("size by its number")
def _by_number(evidence: Evidence, misfit: Misfit) -> Iterator[Edit]:
    """Change what has the size that does not fit, or a multiple, a part or a summand of it."""
    yield from equalised(evidence.trial, misfit.got, misfit.want)


@fit_rule("other edges")
def _other_edges(evidence: Evidence, misfit: Misfit) -> Iterator[Edit]:
    """Give a map other edges, or make it a sequence, where features do not fit."""
    if misfit.dimension == 1:
        return
    yield from resized(evidence.trial, misfit.want / max(misfit.got, 1))
    for path, tensor in same(evidence.trial, misfit.operand):
        if len(tensor.shape) == 4:
            yield {path: replace(tensor, shape=(BATCH, SEQUENCE, misfit.want))}
            yield {path: replace(tensor, shape=(BATCH, misfit.want))}


@rule("map of a kernel's size", "call", is_convolution)
def _kernel(evidence: Evidence) -> Iterator[Edit]:
    """Give a convolution a map that is no smaller than its kernel, or a smaller kernel."""
    operand, weight = call_of(evidence).operands[:2]
    dimensions, trial = weight.dim() - 2, evidence.trial
    if operand.dim() != weight.dim() or _misfit(evidence) is not None:
        return
    smallest = min(operand.shape[2:])
    for kernel in dict.fromkeys(weight.shape[2:]):
        for path, part in init_numbers(trial):
            if kernel > smallest and number_of(part) == kernel:
                # It was taken for a number of features.
                yield from ({path: with_number(part, size)} for size in (3, 2, 1))
    yield from resized(trial, (max(weight.shape[2:]) / max(smallest, 1) * 2) ** dimensions, is_convolved=True)


@rule("sizes of what is joined", "call", calls("cat", "stack", "concat", "concatenate", "hstack", "vstack"))
def _joined(evidence: Evidence) -> Iterator[Edit]:
    """Give tensors that are joined the same sizes beside the one along which they are."""
    trial = evidence.trial
    shapes = [tuple(item.shape) for item in call_of(evidence).taken]
    for other in shapes[1:]:
        first = shapes[0]
        if len(first) != len(other):
            continue
        if len(first) == 3 and first[:2] == other[:2]:
            # Joined behind the batch: features, not sequences of them.
            yield one_step(trial)
        if len(first) >= 4 and first[2:] != other[2:]:
            yield from pyramids(trial)
            yield from _with_edges(trial, other[2:], first[2:])
        for left, right in zip(first, other, strict=True):
            if left != right:
                yield from equalised(trial, right, left)
        if first[2:] != other[2:]:
            # Down and up again by halves: the edge must be divisible.
            yield from resized(trial, 1.0)


def _with_edges(trial: Trial, old: Shape, new: Shape) -> Iterator[Edit]:
    """Change all edges of a map at once: one alone would still not fit."""
    for path, tensor in tensors(trial):
        if tensor.shape[-len(old) :] == old and len(tensor.shape) > len(old) + 1:
            yield {path: replace(tensor, shape=tensor.shape[: -len(old)] + new)}


@rule("sizes of two operands", "call", lambda evidence: bool(broadcast_operands(evidence)))
def _broadcast(evidence: Evidence) -> Iterator[Edit]:
    """Give two operands sizes that are equal, or one of them 1."""
    trial = evidence.trial
    one, other = broadcast_operands(evidence)
    is_map = one.dim() == other.dim() >= 4
    if is_map and one.shape[:2] == other.shape[:2]:
        yield from pyramids(trial)
    pairs = list(zip_longest(reversed(one.shape), reversed(other.shape), fillvalue=1))
    mismatched = [(left, right) for left, right in pairs if left != right and 1 not in (left, right)]
    if len(mismatched) > 1:
        # None of them would do alone.
        yield from _fitted(trial, other, one)
        yield from _fitted(trial, one, other)
        if len(set(mismatched)) == 1:
            # A map that the model holds, such as one of positions, fits the maps of images of one size. Tried before
            # the rest, or an image of one patch is found: a single position is broadcast.
            left, right = mismatched[0]
            yield from with_edges_times(trial, right, left)
            yield from with_edges_times(trial, left, right)
    for left, right in mismatched:
        yield from equalised(trial, right, left)
    yield from _with_all_edges(trial, tuple(one.shape), tuple(other.shape))
    for operand, twin in ((other, one), (one, other)) if mismatched else ():
        yield from ({path: replace(tensor, shape=tuple(twin.shape))} for path, tensor in same(trial, operand))
    if mismatched and is_map:
        yield from resized(trial, 1.0)


def broadcast_operands(evidence: Evidence) -> list[torch.Tensor]:
    """Return the two operands of a call that broadcasts them; none of another call."""
    call = evidence.call
    if call is None:
        return []
    if call.function == "expand_as" and len(call.args) > 1 and call.args[0].dim() <= call.args[1].dim():
        return list(call.args[:2])
    is_broadcast = BROADCASTING.fullmatch(call.function) is not None and len(call.operands) > 1
    return call.operands[:2] if is_broadcast else []


def _fitted(trial: Trial, operand: torch.Tensor, beside: torch.Tensor) -> Iterator[Edit]:
    """Give an operand that is an input all sizes of the other that do not fit."""
    shape, wanted = tuple(operand.shape), tuple(beside.shape)
    more = len(shape) - len(wanted)
    own = (1,) * -more + shape
    sizes = [left if 1 in (left, right) else right for left, right in zip(own[max(more, 0) :], wanted, strict=True)]
    yield from rearranged(trial, shape, (*shape[: max(more, 0)], *sizes)[-len(shape) :])


def _with_all_edges(trial: Trial, one: Shape, other: Shape) -> Iterator[Edit]:
    """Change all edges of a map that differ at once: one alone would still not fit."""
    differing = 0
    for left, right in zip(reversed(one[2:]), reversed(other[2:]), strict=False):
        if left == right or 1 in (left, right):
            break
        differing += 1
    if differing > 1:
        yield from _with_edges(trial, one[-differing:], other[-differing:])
        yield from _with_edges(trial, other[-differing:], one[-differing:])


@rule("shape to expand to", "call", calls("expand", "expand_as"))
def _expanded(evidence: Evidence) -> Iterator[Edit]:
    """Give a tensor no more dimensions than it is to be expanded to."""
    call, trial = call_of(evidence), evidence.trial
    if not call.operands or len(call.args) < 2:
        return
    sizes, old = _expanded_to(call), tuple(call.operands[0].shape)
    if len(old) > len(sizes):
        # A size of -1 stays.
        wanted = tuple(old[index] if size < 0 else size for index, size in enumerate(sizes))
        yield from rearranged(trial, old, wanted)
        yield from reranked(trial, len(old), len(wanted))


def _expanded_to(call: TorchCall) -> Shape:
    given: Any = call.args[1] if len(call.args) == 2 else call.args[1:]
    sizes = given.shape if isinstance(given, torch.Tensor) else given if isinstance(given, (tuple, list)) else (given,)
    return tuple(size for size in sizes if isinstance(size, int))


@rule("map that is pooled", "call", lambda evidence: evidence.call is not None and "_pool" in evidence.call.function)
def _pooled(evidence: Evidence) -> Iterator[Edit]:
    """Give a pooling a map that is no smaller than its kernel."""
    call = call_of(evidence)
    if not call.operands or len(call.args) < 2:
        return
    kernel, operand = call.args[1], call.operands[0]
    sizes = [each for each in (kernel if isinstance(kernel, (tuple, list)) else [kernel]) if isinstance(each, int)]
    size, dimensions = max(sizes, default=0), operand.dim() - 2
    if dimensions > 0 and min(operand.shape[2:]) < size:
        yield from resized(evidence.trial, (size / max(min(operand.shape[2:]), 1)) ** dimensions)
