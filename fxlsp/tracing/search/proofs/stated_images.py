"""Models that no square image fits, although an argument of their constructor states the edge of one.

As where a table of positions has none for the class token. A search finds an image with which such a model runs if one
edge may be far longer than the other.
"""

from __future__ import annotations

import ast
import inspect
import re

from torch import nn

from ...model.locations.source_map import SourceMap
from ..evidence import place_and_text
from ..priors.constructor import parameters_of
from ..rules.sizes import BROADCASTING
from ..trials.runner import TrialOutcome
from ..trials.values import Path, Tensor, Trial, changed, input_tensors, with_dimension
from .proof import Run
from .reasons import unfit_sizes

_EDGE = re.compile(r"(?i:im(g|age)?_?(size|res|resolution|dim))")
_RANK = 4
_LARGEST = 4
"""How many times the stated edge those of images are tried."""


def with_stated_image(trial: Trial, model: nn.Module) -> Trial | None:
    """Return a trial with the square image that an argument states; None if none does, or there is not one image."""
    stated, images = _stated_edge(trial, model), _images(trial)
    return _with_edge(trial, images[0][0], stated[1]) if stated is not None and len(images) == 1 else None


def has_square_image(trial: Trial) -> bool:
    """Return whether all images among the inputs are square."""
    return all(each.shape[-1] == each.shape[-2] for _, each in _images(trial))


def condition_of_stated_image(trial: Trial, model: nn.Module, run: Run, places: SourceMap) -> str | None:
    """Return under which condition alone the model of a trial runs, if no square image fits it.

    None if one does, and wherever that is not known. A larger image has no fewer positions or features, so that two
    images, of which one has too many and the next smaller one too few, leave none between.

    Args:
        trial: With the square image that an argument states.
        model: What it constructs.
        run: Runs a trial.
        places: The source map.
    """
    stated, images = _stated_edge(trial, model), _images(trial)
    if stated is None or len(images) != 1:
        return None
    (name, edge), squares = stated, _SquareImages(trial, images[0][0], run, places)
    excess = squares.excess(edge)
    fewest, most = (1, edge) if excess > 0 else (edge, _LARGEST * edge)
    if not excess or (excess < 0 and squares.excess(most) <= 0):
        return None
    while most - fewest > 1:
        between = (fewest + most) // 2
        excess = squares.excess(between)
        if not excess:
            return None
        fewest, most = (fewest, between) if excess > 0 else (between, most)
    return f"runs only where the image is not square, though `{name}` states an edge of {edge}"


def _with_edge(trial: Trial, path: Path, edge: int) -> Trial:
    tensor = dict(input_tensors(trial))[path]
    return changed(trial, path, with_dimension(with_dimension(tensor, -1, edge), -2, edge))


class _SquareImages:
    """Runs of a trial with square images of several edges."""

    def __init__(self, trial: Trial, path: Path, run: Run, places: SourceMap) -> None:
        self._trial = trial
        self._path = path
        self._run = run
        self._places = places
        self._place: int | None = None
        """Where the first one fails."""

    def excess(self, edge: int) -> int:
        """Return how much larger than the model's own a size is that follows the image.

        0 if it fits, or fails elsewhere.
        """
        outcome = self._run(_with_edge(self._trial, self._path, edge))
        if outcome is None or outcome.error is None:
            return 0
        place, _ = place_and_text(outcome.error, self._places)
        self._place = self._place or place
        return _excess(outcome) if place == self._place else 0


def _excess(outcome: TrialOutcome) -> int:
    call, known, unfit = outcome.failing, outcome.weight_sizes, list(unfit_sizes(outcome))
    if call is None or known is None or len(unfit) != 1 or len(call.operands) < 2:
        return 0
    at, one, two = unfit[0]
    first, second = call.operands[:2]
    if call.name == "linear":
        return 0 if known.is_fixed(first, -1) or not known.is_fixed(second, -1) else one - two
    if not BROADCASTING.fullmatch(call.name.strip("_")) or len(call.operands) != 2:
        return 0
    are_fixed = known.is_fixed(first, -1 - at), known.is_fixed(second, -1 - at)
    return {(False, True): one - two, (True, False): two - one}.get(are_fixed, 0)


def _images(trial: Trial) -> list[tuple[Path, Tensor]]:
    return [item for item in input_tensors(trial) if len(item[1].shape) == _RANK and item[1].dtype == "float"]


def _stated_edge(trial: Trial, model: nn.Module) -> tuple[str, int] | None:
    """Return the argument of the constructor that states the edge of an image, and the edge."""
    try:
        made = ast.parse(trial.init_text.removesuffix(".eval()"), mode="eval").body
        parameters = parameters_of(type(model))
    except (SyntaxError, TypeError, ValueError):
        return None
    if not isinstance(made, ast.Call) or made.args or ast.unparse(made.func) != type(model).__name__:
        return None
    given = {each.arg: each.value.value for each in made.keywords if isinstance(each.value, ast.Constant)}
    named = [parameter for parameter in parameters if _EDGE.fullmatch(parameter.name)]
    values = [given.get(each.name, each.default) for each in named]
    if len(values) != 1 or values[0] is inspect.Parameter.empty or type(values[0]) is not int or values[0] < 1:
        return None
    return named[0].name, values[0]
