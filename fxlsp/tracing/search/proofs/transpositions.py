"""Products that fit only where two sizes are equal, since a matrix is not transposed, or is along the wrong axes."""

from __future__ import annotations

from collections.abc import Iterator
from traceback import walk_tb

from torch import nn

from ...model import module_tree
from ..rules.ranks_dtypes import PRODUCTS
from ..trials.runner import TrialOutcome
from ..trials.values import Path, Size, Trial, changed, init_numbers, input_tensors
from .effects import Run

_RANK_OF_BATCHES = 3
"""Of a batch of matrices."""
_TIMES = (2, 3, 5, 7, 11, 13)


def with_other_weights(trial: Trial, model: nn.Module, run: Run) -> Iterator[Trial]:
    """Yield a trial that runs with another size of each argument that both sides of a square weight have.

    Those of linear layers are left out: widths that a model wants equal are no mistake. The other size is one that
    nothing else has, so that it does not fit, or fail, by an accident of its own.

    Args:
        trial: One that runs.
        model: What it constructs.
        run: Runs a trial.
    """
    sizes = _sides_of_square_weights(trial, model)
    outcome = run(trial) if sizes else None
    if outcome is None or outcome.error is not None:
        return
    used = {int(size) for weight in module_tree.parameters(model) if _is_made(weight) for size in weight.shape}
    used.update(outcome.sizes, (size for _, tensor in input_tensors(trial) for size in tensor.shape))
    used.update(part.value for _, part in init_numbers(trial) if isinstance(part, Size))
    for path, size in sizes:
        other = next((times * size for times in _TIMES if times * size not in used), None)
        if other is not None:
            yield changed(trial, path, Size(other))


def _sides_of_square_weights(trial: Trial, model: nn.Module) -> list[tuple[Path, int]]:
    owners = (each for each in module_tree.modules(model) if not isinstance(each, nn.Linear))
    weights = [weight for owner in owners for weight in owner._parameters.values() if weight is not None]
    matrices = (weight for weight in weights if _is_made(weight) and weight.dim() == 2)
    square = {int(each.shape[0]) for each in matrices if each.shape[0] == each.shape[1]}
    numbers = ((path, part) for path, part in init_numbers(trial) if isinstance(part, Size))
    return [(path, part.value) for path, part in numbers if part.value in square]


def _is_made(weight: nn.Parameter) -> bool:
    """Return whether a parameter has a shape, which that of a lazy layer has not before it runs."""
    return not isinstance(weight, nn.UninitializedParameter)


def weight_without_transposition(outcome: TrialOutcome) -> str | None:
    """Return the condition of a weight of the user's own that ``linear`` is given with its axes exchanged.

    A layer has its axes in order, ``nn.Linear`` as well as one of the user's. What does not fit one are widths, which
    other arguments could make equal. So may those be of a weight that is used in a loop, and has fitted once.
    """
    call, known, error = outcome.failing, outcome.weight_sizes, outcome.error
    if call is None or known is None or error is None or call.name != "linear" or len(call.operands) < 2:
        return None
    owners = (frame.f_locals.get("self") for frame, _ in walk_tb(error.__traceback__))
    if any(isinstance(owner, nn.Module) and owner is not outcome.model for owner in owners):
        return None
    given, weight = call.operands[:2]
    if known.has_fitted(weight):
        return None
    if weight.dim() != 2 or not all(known.is_fixed(weight, at) for at in (0, 1)) or not known.is_fixed(given, -1):
        return None
    rows, columns = map(int, weight.shape)
    if not rows == int(given.shape[-1]) != columns:
        return None
    return (
        f"runs only where the weight is square, not {rows} x {columns}: `linear` takes one of (results, features), so "
        "its axes have to be exchanged"
    )


def scores_without_transposition(outcome: TrialOutcome) -> str | None:
    """Return the condition of scores, one for each step, that are multiplied with these steps as a column."""
    call, known = outcome.failing, outcome.weight_sizes
    if call is None or known is None or call.name.strip("_") not in PRODUCTS or len(call.operands) != 2:
        return None
    scores, steps = call.operands
    if not scores.dim() == steps.dim() >= _RANK_OF_BATCHES or scores.shape[:-1] != steps.shape[:-1]:
        return None
    is_column = scores.shape[-1] == 1 and known.is_fixed(scores, -1) and known.is_fixed(steps, -1)
    length = int(steps.shape[-2])
    if length == 1 or not is_column or known.is_fixed(scores, -2) or known.is_fixed(steps, -2):
        return None
    return (
        f"runs only where the length is 1: one score for each of {length} steps is a column of {length} x 1, so the "
        "scores have to be transposed"
    )


def product_without_transposition(trial: Trial, outcome: TrialOutcome) -> str | None:
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
    if known.is_activated(one) or known.is_activated(two):
        # So may one with weights that a ``softmax`` made, for as many nodes as it has columns.
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


def product_of_other_axes(outcome: TrialOutcome) -> str | None:
    """Return the condition of a product of many matrices whose operands have the same sizes in another order.

    Numbers were guessed for the constructor: without, that the sizes never fit is proven.
    """
    call = outcome.failing
    if call is None or outcome.refuses_inputs or call.name.strip("_") not in PRODUCTS or len(call.operands) != 2:
        return None
    one, two = (tuple(map(int, each.shape)) for each in call.operands)
    rank = len(one)
    if (
        rank <= _RANK_OF_BATCHES
        or sorted(one) != sorted(two)
        or any(isinstance(each, nn.Parameter) for each in call.args)
    ):
        return None
    unfit = [at for at in range(rank - 2) if one[at] != two[at]]
    if not unfit or one[-1] == two[-2]:
        return None
    at = unfit[0]
    return (
        f"runs only where sizes are equal that mean different things: {one[at]} and {two[at]} in dimension {at}, "
        f"{one[-1]} and {two[-2]} along which the product sums; the operands have their axes in another order"
    )


def einsum_of_other_axes(trial: Trial, outcome: TrialOutcome) -> str | None:
    """Return the condition of an ``einsum`` of two operands that would fit if two axes of one were exchanged.

    Both operands have all sizes, of which one is of an input and one is the model's own, as heads are.
    """
    call = outcome.failing
    if call is None or call.name != "einsum" or len(call.taken) != 2:
        return None
    if not isinstance(call.args[0], str) or "." in call.args[0]:
        # An ellipsis has no letters for its axes.
        return None
    letters = call.args[0].replace(" ", "").partition("->")[0].split(",")
    one, two = (tuple(map(int, each.shape)) for each in call.taken)
    if len(one) <= _RANK_OF_BATCHES or sorted(one) != sorted(two) or [*map(len, letters)] != [len(one), len(two)]:
        return None
    sizes = dict(zip(letters[0], one, strict=True))
    unfit = [at for at, letter in enumerate(letters[1]) if sizes.get(letter, two[at]) != two[at]]
    if len(unfit) != 1:
        return None
    at, letter = unfit[0], letters[1][unfit[0]]
    own, wanted = two[at], sizes[letter]
    of_inputs = {size for _, tensor in input_tensors(trial) for size in tensor.shape}
    if (own in of_inputs) == (wanted in of_inputs):
        return None
    # The axis that has the size is one that the first operand lacks, so that an exchange leaves the others as they are.
    is_exchanged = any(size == wanted and other not in sizes for size, other in zip(two, letters[1], strict=True))
    if not is_exchanged:
        return None
    return (
        f"runs only where sizes are equal that mean different things: `{letter}` is {wanted} in the first operand, "
        f"{one}, and {own} in the second, {two}, which has its axes in another order"
    )
