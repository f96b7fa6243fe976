"""Models that run only where two sizes are equal that mean different things.

A search finds equal sizes where nothing else runs: a batch as long as the sequence, a length that is the width of a
head. The model is wrong then, and its failure shows with sizes that differ. Where an operation itself says what the
sizes mean, no data could have them equal on purpose: a recurrent layer has a batch and a length, a product lacks a
transposition, and a convolution over a sequence slides along its length.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from traceback import walk_tb

import torch
from torch import nn

from ...model.diagnosis.failures import text_of
from ...model.diagnosis.returned_values import functions_of_traceback
from ...model.locations.source_map import SourceMap
from ..evidence import unpacked_names
from ..rules.sizes import BROADCASTING
from ..trials.runner import TrialOutcome
from ..trials.values import Trial, changed, input_tensors, with_dimension
from .reasons import unfit_sizes
from .transpositions import (
    einsum_of_other_axes,
    product_of_other_axes,
    product_without_transposition,
    scores_without_transposition,
    weight_without_transposition,
)

_STATE = re.compile(r"^Expected hidden(?:\[\d\])? size \(\d+, (\d+), \d+\), got \[\d+, (\d+), \d+\]")
_MASK = re.compile(r"2D attn_mask is torch\.Size\(\[(\d+), (\d+)\]\), but should be \((\d+), (\d+)\)")
_OTHER_SIZES = (24, 40, 56, 20)
"""Multiples of eight first, since lengths may have to be divided."""
_OTHER_BATCHES = (5, 7, 11)
_LARGEST_RANK = 3
"""Of sequences. The edges of images are moved with the batch alone."""
_RANK_OF_TOKENS = 2
_LEAST_RANK_OF_TOKEN = 3
"""Ranks of (batch, tokens, features) and more."""
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


def with_moved_batch(trial: Trial) -> Iterator[Trial]:
    """Yield a trial with another batch, and with other edges too, so that no two sizes of an image are equal.

    Nothing if its inputs have not all the same batch.
    """
    tensors = input_tensors(trial)
    batches = {tensor.shape[:1] for _, tensor in tensors}
    used = {size for _, tensor in tensors for size in tensor.shape}
    if len(batches) != 1 or () in batches:
        return
    moved, other = trial, next(size for size in _OTHER_BATCHES if size not in used or size == _OTHER_BATCHES[-1])
    for path, tensor in tensors:
        moved = changed(moved, path, with_dimension(tensor, 0, other))
    yield moved
    for path, tensor in input_tensors(moved):
        free = (size for size in _OTHER_SIZES if size not in used)
        for index in range(2, len(tensor.shape)):
            moved = changed(moved, path, with_dimension(tensor, index, next(free, tensor.shape[index])))
            tensor = dict(input_tensors(moved))[path]  # noqa: PLW2901
    if len(tensors) == 1 and len(tensors[0][1].shape) > _LARGEST_RANK:
        yield moved


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


def _is_made_without_arguments(trial: Trial) -> bool:
    return trial.init_text.removesuffix(".eval()").endswith("()")


def runs_only_where(trial: Trial, outcome: TrialOutcome) -> str | None:
    """Return under which condition alone the model of a failed trial runs, if no sound model has such a condition."""
    if len(input_tensors(trial)) == 1:
        found = (
            _state_of_length(outcome.error)
            or product_without_transposition(trial, outcome)
            or scores_without_transposition(outcome)
            or einsum_of_other_axes(trial, outcome)
            or (None if _is_made_without_arguments(trial) else product_of_other_axes(outcome))
        )
        if found is not None:
            return found
    return weight_without_transposition(outcome) or _convolution_along_features(outcome)


def runs_only_with_batch(trial: Trial, outcome: TrialOutcome, places: SourceMap) -> str | None:
    """Return under which condition on the batch alone the model of a failed trial runs.

    That the first dimension of an input is a batch is a convention: it may be nodes, cells, or two views of one batch.
    Only what no such dimension could do counts.

    Args:
        trial: One whose batch is no other size of it, by :func:`with_moved_batch`.
        outcome: How it failed.
        places: The source map of the model's code.
    """
    batch = int(input_tensors(trial)[0][1].shape[0])
    found = _joined_without_batch(batch, outcome) or _unpacked_state(batch, outcome, places)
    found = found or _mask_of_batch(trial, batch, outcome.error)
    is_alone = len(input_tensors(trial)) == 1
    # Of two inputs the rank of one may have been guessed wrongly, unless it is known what the dimensions mean.
    is_known = is_alone or _are_channels_beside_edges(outcome)
    return found or (_batch_beside_other_dimension(batch, outcome) if is_known else None)


def _joined_without_batch(batch: int, outcome: TrialOutcome) -> str | None:
    """Return the condition of a parameter for one example, such as a class token, that is joined to a batch.

    A buffer of one example may be what a stream keeps, and a parameter of more than one has what each of the nodes has.
    """
    call = outcome.failing
    if call is None or call.name not in ("cat", "concat", "concatenate"):
        return None
    unfit = unfit_sizes(outcome)
    if not unfit or any(at != -each.dim() for at, _, _ in unfit for each in call.taken):
        # It fails by other sizes, or joins along the batch.
        return None
    tokens = [each for each in call.taken if isinstance(each, nn.Parameter)]
    others = [each for each in call.taken if not isinstance(each, nn.Parameter)]
    is_of_one = all(each.dim() >= _LEAST_RANK_OF_TOKEN and each.shape[0] == 1 for each in tokens)
    if not tokens or not is_of_one or not others or any(each.shape[0] != batch for each in others):
        return None
    return "runs only where the batch is 1: a parameter of the model is joined with that size to a batch"


def _mask_of_batch(trial: Trial, batch: int, error: BaseException | None) -> str | None:
    """Return the condition of a mask between the steps of tokens that has the batch for their number.

    Of other inputs the first two dimensions may be of one size, such as those of pairs of nodes.
    """
    inputs = [tensor for _, tensor in input_tensors(trial)]
    is_of_tokens = len(inputs) == 1 and inputs[0].dtype == "long" and len(inputs[0].shape) == _RANK_OF_TOKENS
    match = _MASK.search(text_of(error)) if isinstance(error, RuntimeError) else None
    if match is None or not is_of_tokens:
        return None
    rows, columns, queries, keys = map(int, match.groups())
    if not rows == columns == batch or batch in (queries, keys):
        return None
    return f"runs only where the batch equals the length: the mask is {rows} x {columns}, and there are {keys} steps"


def _are_channels_beside_edges(outcome: TrialOutcome) -> bool:
    """Return whether one operand has features, of one example each, and the other one has them as its channels."""
    call, known = outcome.failing, outcome.weight_sizes
    if call is None or known is None or len(call.operands) != 2:
        return False
    features, maps = sorted(call.operands, key=torch.Tensor.dim)
    if features.dim() != 2 or maps.dim() <= 2 or features.shape[1] != maps.shape[1]:
        return False
    return known.is_fixed(features, 1) and known.is_fixed(maps, 1) and not known.is_fixed(maps, -1)


def _batch_beside_other_dimension(batch: int, outcome: TrialOutcome) -> str | None:
    """Return the condition of operands of two ranks, of which the shorter shape begins the longer one.

    These are a batch and sizes of layers, such as channels, so that they do not mean the last dimensions of the longer
    one, which they meet.
    """
    call, known = outcome.failing, outcome.weight_sizes
    if call is None or known is None or not BROADCASTING.fullmatch(call.name.strip("_")) or len(call.operands) != 2:
        return None
    less, more = sorted(call.operands, key=torch.Tensor.dim)
    rank, beside = less.dim(), more.dim() - less.dim()
    if not 1 < rank < more.dim() or less.shape != more.shape[:rank] or less.shape[0] != batch:
        return None
    # Where no two sizes of the longer one are equal, they do not begin it by accident.
    of_layers = (less,) if len(set(more.shape)) == more.dim() else (less, more)
    if known.is_fixed(less, 0) or not all(known.is_fixed(each, at) for each in of_layers for at in range(1, rank)):
        return None
    if int(more.shape[beside]) in (1, batch):
        return None
    return (
        f"runs only where dimension {beside} of {tuple(more.shape)} equals the batch, which the other operand, "
        f"{tuple(less.shape)}, has there"
    )


def _unpacked_state(batch: int, outcome: TrialOutcome, places: SourceMap) -> str | None:
    """Return the condition of the state of a cell that has one, unpacked along its batch as if it had two."""
    last, error = outcome.last, outcome.error
    wanted = unpacked_names(text_of(error)) if isinstance(error, ValueError) else None
    if error is None or wanted is None or last is None or last.name != "unbind" or not last.taken:
        return None
    layer = _called_layer(error, places)
    if not isinstance(layer, (nn.GRUCell, nn.RNNCell)) or last.taken[0].shape[0] != batch:
        return None
    return f"runs only where the batch is {wanted}: {type(layer).__name__} returns one tensor, unpacked along its batch"


def _called_layer(error: BaseException, places: SourceMap) -> nn.Module | None:
    """Return the layer of ``self`` whose result the failed statement assigns: ``h, c = self.cell(x)``."""
    running = functions_of_traceback(error, places)
    statement = places.statement_of(running[-1].instruction) if running else None
    match statement:
        case ast.Assign(value=ast.Call(func=ast.Attribute(value=ast.Name(id="self"), attr=name))):
            owner = running[-1].owner
            return None if owner is None else owner._modules.get(name)
    return None


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
