"""Maps that a linear layer takes as they are, although it is made for all positions of all channels at once."""

from __future__ import annotations

import math

from ..trials.runner import TrialOutcome
from ..trials.values import Trial, changed, input_tensors, with_dimension
from .effects import Run

_RANK = 4
_FEWEST_POSITIONS = 4
_MOST_UNLIKE = 2
"""How many times more one edge of an image may shrink than the other."""
_WIDEST = 4096
"""Wider images than this, and longer spectrograms, are no example of anything that a linear layer is made for."""


def condition_of_maps(trial: Trial, outcome: TrialOutcome, run: Run) -> str | None:
    """Return the condition of maps that are not flattened before a linear layer: an image that is far too wide.

    The layer takes as many features as a square map of these channels has numbers. Without being flattened, the map
    would have to be that wide.
    """
    images = [(path, each) for path, each in input_tensors(trial) if len(each.shape) == _RANK]
    found = _maps_and_features(outcome)
    if len(images) != 1 or found is None:
        return None
    (path, image), (maps, features) = images[0], found
    height, width = image.shape[-2:]
    across, along = height * maps[-1], width * maps[-2]
    if max(across, along) > _MOST_UNLIKE * min(across, along):
        # One edge is no edge of an image, such as the microphones beside samples of a signal.
        return None
    wider = run(changed(trial, path, with_dimension(image, -1, 2 * width)))
    other = None if wider is None else _maps_and_features(wider)
    if other is None or other[1] != features or other[0][-1] <= maps[-1]:
        return None
    needed = width + (features - maps[-1]) * width // (other[0][-1] - maps[-1])
    if needed <= _WIDEST:
        return None
    return f"runs only where the image is about {needed} wide: maps of {maps} are not flattened"


def _maps_and_features(outcome: TrialOutcome) -> tuple[tuple[int, ...], int] | None:
    """Return the shape of maps of convolutions that a linear layer fails with, and how many features it takes."""
    call, known = outcome.failing, outcome.weight_sizes
    if call is None or known is None or call.name != "linear" or len(call.operands) < 2:
        return None
    maps, weight = call.operands[:2]
    if maps.dim() != _RANK or not known.is_fixed(weight, -1) or not known.is_fixed(maps, 1) or known.is_fixed(maps, -1):
        return None
    features = int(weight.shape[-1])
    positions, rest = divmod(features, int(maps.shape[1]))
    is_square = math.isqrt(positions) ** 2 == positions
    is_of_maps = not rest and is_square and positions >= _FEWEST_POSITIONS
    return (tuple(map(int, maps.shape)), features) if is_of_maps else None
