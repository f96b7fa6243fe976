"""Models that run only where two sizes are equal that mean different things.

A search finds equal sizes where nothing else runs: a batch as long as the sequence, a length that is the width of a
head. The model is wrong then, and its failure shows with sizes that differ. Where an operation itself says what the
sizes mean, no data could have them equal on purpose: a recurrent layer has a batch and a length, a product of two
matrices of one shape lacks a transposition, and a convolution over a sequence slides along its length.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from traceback import walk_tb

import torch
from torch import nn

from ...building.failures import text_of
from ..rules.ranks_dtypes import PRODUCTS
from ..runner import TrialOutcome
from ..values import Trial, changed, input_tensors, with_dimension

_STATE = re.compile(r"^Expected hidden(?:\[\d\])? size \(\d+, (\d+), \d+\), got \[\d+, (\d+), \d+\]")
_OTHER_SIZES = (24, 40, 56, 20)
"""Multiples of eight first, since lengths may have to be divided."""
_LARGEST_RANK = 3
"""Sequences have no more dimensions; the edges of images are moved by nothing here."""
_MOST_MOVED = 6
_Dimensions = tuple[tuple[tuple[str, ...], int], ...]


def with_moved_sizes(trial: Trial, wanted: int | None = None) -> Iterator[tuple[int, Trial]]:
    """Yield a trial with one size of its inputs changed, beside the size that it was.

    Dimensions of equal size are changed together, then each by itself.

    Args:
        trial: One that runs.
        wanted: The length that the user prefers.
    """
    tensors = input_tensors(trial)
    used = {size for _, tensor in tensors for size in tensor.shape}
    other = next((size for size in (wanted, *_OTHER_SIZES) if size is not None and size not in used), None)
    if other is None:
        return
    of_size: dict[int, list[tuple[tuple[str, ...], int]]] = {}
    for path, tensor in tensors:
        for index, size in enumerate(tensor.shape if len(tensor.shape) <= _LARGEST_RANK else ()):
            of_size.setdefault(size, []).append((path, index))
    moves = [(size, group) for size, places in of_size.items() for group in _groups(places)]
    for size, group in moves[:_MOST_MOVED]:
        moved = trial
        for path, index in group:
            tensor = dict(input_tensors(moved))[path]
            moved = changed(moved, path, with_dimension(tensor, index, other))
        yield size, moved


def _groups(places: list[tuple[tuple[str, ...], int]]) -> Iterator[_Dimensions]:
    later = tuple(place for place in places if place[1])
    if later:
        yield later
    if len(places) > 1:
        yield from (((place),) for place in places if (place,) != later)


def has_size(trial: Trial, size: int) -> bool:
    """Return whether a dimension of an input has a size."""
    return any(size in tensor.shape for _, tensor in input_tensors(trial))


def is_made_of_numbers(trial: Trial) -> bool:
    """Return whether the constructor's arguments are numbers, and lists and objects of such: no flags and no words."""
    try:
        made = ast.parse(trial.init_text.removesuffix(".eval()"), mode="eval").body
    except SyntaxError:
        return False
    return _is_of_numbers(made)


def _is_of_numbers(node: ast.expr) -> bool:
    if isinstance(node, ast.Constant):
        return type(node.value) in (int, float)
    if isinstance(node, (ast.List, ast.Tuple)):
        return all(map(_is_of_numbers, node.elts))
    if not isinstance(node, ast.Call) or not isinstance(node.func, (ast.Name, ast.Attribute)):
        return False
    return all(map(_is_of_numbers, (*node.args, *(keyword.value for keyword in node.keywords))))


def runs_only_where(trial: Trial, outcome: TrialOutcome) -> str | None:
    """Return under which condition alone the model of a failed trial runs, if no sound model has such a condition."""
    if len(input_tensors(trial)) == 1:
        found = _state_of_length(outcome.error) or _product_without_transposition(trial, outcome)
        if found is not None:
            return found
    return _convolution_along_features(outcome)


def _state_of_length(error: BaseException | None) -> str | None:
    """Return the condition of a recurrent layer whose state has the length for a batch, or the other way round.

    The layer says which dimension of its input is which.
    """
    match = _STATE.match(text_of(error)) if isinstance(error, RuntimeError) else None
    if error is None or match is None:
        return None
    for frame, _ in walk_tb(error.__traceback__):
        layer, given = frame.f_locals.get("self"), frame.f_locals.get("input")
        if isinstance(layer, nn.RNNBase) and isinstance(given, torch.Tensor) and given.dim() == _LARGEST_RANK:
            batch, length = (0, 1) if layer.batch_first else (1, 0)
            sizes = int(given.shape[batch]), int(given.shape[length])
            if sizes == (int(match[1]), int(match[2])) and sizes[0] != sizes[1]:
                default = "" if layer.batch_first else ", since batch_first is not set"
                return (
                    f"runs only where the batch equals the length: dimension {length} of what the layer takes is the "
                    f"length{default}, and the state has that size for the batch"
                )
    return None


def _product_without_transposition(trial: Trial, outcome: TrialOutcome) -> str | None:
    """Return the condition of a product of two matrices of one shape, of which the last size comes from the model."""
    call, known = outcome.failing, outcome.weight_sizes
    if call is None or known is None or outcome.refuses_inputs or call.name.strip("_") not in PRODUCTS:
        return None
    if len(call.operands) != 2:
        return None
    one, two = call.operands
    if one is two or one.dim() < 2 or one.shape != two.shape or isinstance(one, nn.Parameter):
        # A matrix that is multiplied by itself may be one between nodes.
        return None
    rows, columns = int(one.shape[-2]), int(one.shape[-1])
    of_inputs = {size for _, tensor in input_tensors(trial) for size in tensor.shape}
    is_of_model = columns not in of_inputs or (known.is_fixed(one, -1) and known.is_fixed(two, -1))
    if rows == columns or not is_of_model or known.is_fixed(one, -2):
        return None
    return (
        f"runs only where both matrices are square, {columns} x {columns}: they have one shape, so one of them has to "
        "be transposed"
    )


def _convolution_along_features(outcome: TrialOutcome) -> str | None:
    """Return the condition of a convolution that slides along the features of a sequence.

    Its channels are as many as these features. With a kernel of one it may mix steps on purpose.
    """
    call, known = outcome.failing, outcome.weight_sizes
    if call is None or known is None or call.name != "conv1d" or len(call.operands) < 2:
        return None
    given, weight = call.operands[:2]
    if given.dim() != _LARGEST_RANK or weight.dim() != _LARGEST_RANK or weight.shape[2] < 2:
        return None
    channels = int(weight.shape[1])
    if not channels == given.shape[2] != given.shape[1] or not known.is_fixed(given, 2) or known.is_fixed(given, 1):
        return None
    return (
        f"runs only where the length is {channels}, as many as the features: a convolution takes (batch, features, "
        "length), so these two dimensions have to be exchanged"
    )
