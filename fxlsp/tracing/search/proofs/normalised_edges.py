"""Layer normalisations of maps whose channels are not the last dimension: they run where an edge is as long.

The code has the same expression for the size of the normalisation and for the channels of a convolution, and the edge
is that of the image. It could be normalised on purpose only if these were two numbers, as mels and channels are.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from traceback import walk_tb

from torch import nn

from ...model import module_tree
from ...model.diagnosis.returned_values import functions_of_traceback
from ...model.locations.class_text import methods_of
from ...model.locations.source_map import SourceMap
from ..trials.runner import TrialOutcome
from ..trials.values import Trial, changed, input_tensors, with_dimension

_MORE_EDGES = ((2, 64), (3, 128))
"""Dimensions of images, and by how much they are longer: multiples of what strides divide them by."""
_RANK_OF_IMAGES = 4


def with_other_edges(trial: Trial, model: nn.Module | None) -> Trial | None:
    """Return a trial with a larger image of two edges; None if no layer of the model normalises one dimension of it."""
    tensors = input_tensors(trial)
    if len(tensors) != 1 or len(tensors[0][1].shape) != _RANK_OF_IMAGES or model is None:
        return None
    if not any(isinstance(each, nn.LayerNorm) for each in module_tree.modules(model)):
        return None
    ((path, tensor),) = tensors
    moved = trial
    for index, more in _MORE_EDGES:
        moved = changed(moved, path, with_dimension(tensor, index, tensor.shape[index] + more))
        tensor = dict(input_tensors(moved))[path]
    return moved


def runs_only_with_edge(outcome: TrialOutcome, places: SourceMap) -> str | None:
    """Return under which condition on the last edge of its maps alone the model of a failed trial runs.

    Args:
        outcome: How one of :func:`with_other_edges` failed.
        places: The source map of the model's code.
    """
    call, known, error = outcome.failing, outcome.weight_sizes, outcome.error
    if call is None or known is None or error is None or call.name != "layer_norm" or not call.taken:
        return None
    given, size = call.taken[0], _normalised_size(error)
    if size is None or given.dim() != _RANK_OF_IMAGES or not size == given.shape[1] != given.shape[-1]:
        return None
    running = functions_of_traceback(error, places)
    if not known.is_fixed(given, 1) or known.is_fixed(given, -1) or not running or running[-1].owner is None:
        return None
    constructors = (each for each in methods_of(type(running[-1].owner), places) if each.name == "__init__")
    calls = [node for each in constructors for node in each.nodes if isinstance(node, ast.Call)]
    normalised = _numbers_given(calls, "LayerNorm")
    if not normalised or not normalised <= _numbers_given(calls, "Conv"):
        return None
    return (
        f"runs only where the last edge of the map is {size}, as many as the channels: a layer normalisation takes the "
        "last dimension, so the channels have to be moved there, or normalised by GroupNorm(1, channels)"
    )


def _normalised_size(error: BaseException) -> int | None:
    layers = (frame.f_locals.get("self") for frame, _ in walk_tb(error.__traceback__))
    shapes = [each.normalized_shape for each in layers if isinstance(each, nn.LayerNorm)]
    return shapes[-1][0] if shapes and len(shapes[-1]) == 1 else None


def _numbers_given(calls: Sequence[ast.Call], kind: str) -> set[str]:
    """Return what calls of a kind of layer are given, without what is written out."""
    found = (call for call in calls if kind in ast.unparse(call.func))
    given = (each for call in found for each in (*call.args, *(keyword.value for keyword in call.keywords)))
    return {ast.dump(each) for each in given if not isinstance(each, ast.Constant)}
