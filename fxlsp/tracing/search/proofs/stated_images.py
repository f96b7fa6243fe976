"""Models that no image of a stated edge fits, although an argument of their constructor states it.

As where a table of positions has none for the class token. A search finds an image with which such a model runs if one
edge may be far longer than the other.
"""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable

from torch import nn

from ...model.locations.source_map import SourceMap
from ..priors.constructor import parameters_of
from ..rules.sizes import BROADCASTING
from ..trials.runner import TrialOutcome
from ..trials.values import (
    Path,
    Tensor,
    Trial,
    changed,
    init_numbers,
    input_tensors,
    number_of,
    with_dimension,
    with_number,
)
from .effects import Run, place_of
from .reasons import unfit_sizes

_EDGE = re.compile(r"(?i:im(g|age)?_?(size|res|resolution|dim))")
_RANK = 4
_LARGEST_SQUARE = 4
_LONGEST = 16
"""How many times the stated edge the edges of square images are tried, and the other edge of an image that has it."""
_Excess = Callable[[int], int]
"""How much larger than the model's own a size is that follows an edge; 0 if it fits, or that is not known."""


def with_stated_image(trial: Trial, model: nn.Module) -> Trial | None:
    """Return a trial with the square image that an argument states; None if none does, or there is not one image."""
    stated, images = _stated_edge(trial, model), _images(trial)
    return _with_edges(trial, images[0][0], stated[1], stated[1]) if stated is not None and len(images) == 1 else None


def has_square_image(trial: Trial) -> bool:
    """Return whether all images among the inputs are square."""
    return all(each.shape[-1] == each.shape[-2] for _, each in _images(trial))


def condition_of_stated_image(trial: Trial, model: nn.Module, run: Run, places: SourceMap) -> str | None:
    """Return under which condition alone the model of a trial runs, if no image fits it that has the stated edge.

    None if a square image of another edge does, or one of which one edge is the stated one, and wherever that is not
    known. A larger image has no fewer positions or features, so that two images, of which one has too many and the next
    smaller one too few, leave none between.

    Args:
        trial: With the square image that an argument states.
        model: What it constructs.
        run: Runs a trial.
        places: The source map.
    """
    stated, images = _stated_edge(trial, model), _images(trial)
    if stated is None or len(images) != 1:
        return None
    (name, edge), tried = stated, _ImagesOfEdges(trial, images[0][0], run, places)
    excess = tried.excess(edge, edge)
    kinds: list[tuple[_Excess, int]] = [
        (lambda other: tried.excess(other, other), _LARGEST_SQUARE),
        (lambda other: tried.excess(edge, other), _LONGEST),
        (lambda other: tried.excess(other, edge), _LONGEST),
    ]
    if not excess or not all(_none_fits(of, edge, excess, times) for of, times in kinds):
        return None
    return f"runs only where the image is not square, though `{name}` states an edge of {edge}"


def that_misses_alike(
    trial: Trial, construct: Callable[[Trial], nn.Module | None], run: Run, places: SourceMap
) -> Trial | None:
    """Return a trial of which the stated image misses, if it does by as much with other numbers; None if it may not.

    Args:
        trial: With the square image that an argument states. What is guessed of its arguments are numbers.
        construct: Returns the model of a trial; None where there is none, since a number has to divide another one.
        run: Runs a trial.
        places: The source map.
    """
    numbers = init_numbers(trial)
    others = [changed(trial, path, with_number(part, 2 * number_of(part))) for path, part in numbers]
    made = [(other, construct(other)) for other in others]
    stated = [trial, *(each for other, model in made if model and (each := with_stated_image(other, model)))]
    outcomes = [run(each) for each in stated]
    misses = [_miss(outcome, places) for outcome in outcomes]
    if len(misses) < 2 or None in misses or len(set(misses)) > 1:
        return None
    # A size of the model that is the edge may be one.
    edges = [_images(each)[0][1].shape[-1] for each in stated]
    wanted = [0 if outcome is None else _sizes(outcome)[1] for outcome in outcomes]
    return next((each for each, edge, size in zip(stated, edges, wanted, strict=True) if edge != size), None)


def _miss(outcome: TrialOutcome | None, places: SourceMap) -> tuple[tuple[object, ...], int] | None:
    """Return where a trial fails, and how much larger than the model's own the size is that follows the image."""
    if outcome is None or outcome.error is None:
        return None
    got, wanted = _sizes(outcome)
    return (place_of(outcome, places), got - wanted) if got != wanted else None


def _none_fits(excess_of: _Excess, edge: int, excess: int, times: int) -> bool:
    """Return whether no image fits of those that differ in one number, by bisecting it.

    Args:
        excess_of: That of an image.
        edge: One for which it is known.
        excess: That of ``edge``.
        times: How many times ``edge`` the largest one is.
    """
    fewest, most = (0, edge) if excess > 0 else (edge, times * edge)
    if excess < 0 and excess_of(most) <= 0:
        return False
    while most - fewest > 1:
        between = (fewest + most) // 2
        excess = excess_of(between)
        if not excess:
            return False
        fewest, most = (fewest, between) if excess > 0 else (between, most)
    # Whether smaller images than the smallest would fit is no question that they answer.
    return fewest > 0


def _with_edges(trial: Trial, path: Path, height: int, width: int) -> Trial:
    tensor = dict(input_tensors(trial))[path]
    return changed(trial, path, with_dimension(with_dimension(tensor, -1, width), -2, height))


class _ImagesOfEdges:
    """Runs of a trial with images of several edges."""

    def __init__(self, trial: Trial, path: Path, run: Run, places: SourceMap) -> None:
        self._trial = trial
        self._path = path
        self._run = run
        self._places = places
        self._place: tuple[object, ...] | None = None
        """Where the first one fails."""
        self._stated = dict(input_tensors(trial))[path].shape[-1]

    def excess(self, height: int, width: int) -> int:
        """Return how much larger than the model's own a size is that follows the image.

        0 if it fits, or fails elsewhere, or wants the number that is stated, which may be no edge.
        """
        outcome = self._run(_with_edges(self._trial, self._path, height, width))
        if outcome is None or outcome.error is None:
            return 0
        place = place_of(outcome, self._places)
        self._place = self._place or place
        got, wanted = _sizes(outcome)
        return got - wanted if place == self._place and wanted != self._stated else 0


def _sizes(outcome: TrialOutcome) -> tuple[int, int]:
    """Return the size that follows the image and the one of a parameter; equal ones if they are not known."""
    call, known, unfit = outcome.failing, outcome.weight_sizes, list(unfit_sizes(outcome))
    if call is None or known is None or len(unfit) != 1 or len(call.operands) < 2:
        return 0, 0
    at, one, two = unfit[0]
    first, second = call.operands[:2]
    if call.name == "linear":
        return (0, 0) if known.is_fixed(first, -1) or not known.is_fixed(second, -1) else (one, two)
    if not BROADCASTING.fullmatch(call.name.strip("_")) or len(call.operands) != 2:
        return 0, 0
    are_fixed = known.is_fixed(first, -1 - at), known.is_fixed(second, -1 - at)
    return {(False, True): (one, two), (True, False): (two, one)}.get(are_fixed, (0, 0))


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
