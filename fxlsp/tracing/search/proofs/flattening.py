"""Maps that a linear layer takes as they are, although it is made for all positions of all channels at once."""

from __future__ import annotations

import math

from ..trials.runner import TrialOutcome
from ..trials.values import Trial, changed, input_tensors, with_dimension
from .proof import Run

_RANK = 4
_FEWEST_POSITIONS = 4
_WIDEST = 4096
"""Wider images than this, and longer spectrograms, are no example of anything that a linear layer is made for."""


def condition_of_maps(trial: Trial, outcome: TrialOutcome, run: Run) -> str | None:
    """Return the condition of maps that are not flattened before a linear layer: an image that is far too wide.

    The layer takes as many features as a square map of these channels has numbers. Without being flattened, the map
    would have to be that wide.
    """
    images = [(path, each) for path, each in input_tensors(trial) if len(each.shape) == _RANK]
    found = _width_and_features(outcome)
    if len(images) != 1 or found is None:
        return None
    path, image = images[0]
    width = image.shape[-1]
    wider = run(changed(trial, path, with_dimension(image, -1, 2 * width)))
    other = None if wider is None else _width_and_features(wider)
    if other is None or other[1] != found[1] or other[0] <= found[0]:
        return None
    needed = width + (found[1] - found[0]) * width // (other[0] - found[0])
    if needed <= _WIDEST:
        return None
    shape = tuple(map(int, outcome.failing.operands[0].shape)) if outcome.failing is not None else ()
    return f"runs only where the image is about {needed} wide: maps of {shape} are not flattened"


def _width_and_features(outcome: TrialOutcome) -> tuple[int, int] | None:
    """Return the width of maps of convolutions that a linear layer fails with, and how many features it takes."""
    call, known = outcome.failing, outcome.weight_sizes
    if call is None or known is None or call.name != "linear" or len(call.operands) < 2:
        return None
    maps, weight = call.operands[:2]
    if maps.dim() != _RANK or not known.is_fixed(weight, -1) or not known.is_fixed(maps, 1) or known.is_fixed(maps, -1):
        return None
    features = int(weight.shape[-1])
    positions, rest = divmod(features, int(maps.shape[1]))
    is_square = math.isqrt(positions) ** 2 == positions
    return (int(maps.shape[-1]), features) if not rest and is_square and positions >= _FEWEST_POSITIONS else None
