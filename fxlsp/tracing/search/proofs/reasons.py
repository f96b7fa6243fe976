"""Why a trial failed: two sizes, a rank or a type, in words that stay the same where nothing guessed is the cause."""

from __future__ import annotations

import math
import re
from fractions import Fraction
from itertools import zip_longest

import torch

from ...model.capture.refused_types import RefusedTypesError
from ...model.diagnosis.failures import text_of
from ...model.diagnosis.own_mistakes import is_computed_for_parameter
from ..evidence import unpacked_names
from ..rules.ranks_dtypes import PRODUCTS, is_of_wrong_rank
from ..rules.sizes import BROADCASTING, misfit_of
from ..trials.runner import TrialOutcome
from .refused_ranks import refused_rank

_Unfit = frozenset[tuple[int, int, int]]
"""Which dimension, counted from the last, has which two sizes that should be one."""
_BEYOND = re.compile(r"^Dimension out of range .*but got (-?\d+)")
_CHANNELS = re.compile(r"to have (\d+) channels, but got (\d+) channels")
_JOINING = ("cat", "concat", "concatenate", "stack")
_RANK = re.compile(r"\b\d-?D\b")
"""In what torch says about a rank that an operation does not take."""
_SIZES = re.compile(r"(?<=\[)[\d, ]+(?=\])")
_FEATURES = re.compile(r"equal to input_size\. Expected (\d+), got (\d+)")
_STATE = re.compile(r"^Expected hidden(?:\[\d\])? size \((\d+, \d+, \d+)\), got \[(\d+, \d+, \d+)\]")
"""What torch's recurrent layers say, which look at sizes before they call a function."""


_WRONG_TYPES = (tuple, list, dict, str, type(None))
_OF_TYPES = re.compile(
    r"unsupported operand type|must be (tuple of )?\w*Tensors?\b|expected Tensor\b"
    r"|object is not (callable|iterable|sub)|indices must be integers|has no len\(\)|can only concatenate|cannot unpack"
    r"|invalid combination of arguments - got \((NoneType|str|dict|(tuple|list), (Parameter|Tensor|FakeTensor))\b"
)
"""What Python and torch say about values of a wrong type."""


def reasons_of(outcome: TrialOutcome) -> frozenset[object]:
    """Return why an operation failed: sizes that do not fit, else what torch or Python says about it, word for word.

    Of two sizes their difference and quotient are reasons too: two that always differ by one never fit.
    """
    error, call = outcome.error, outcome.failing
    if error is not None and (isinstance(error, RefusedTypesError) or (call is not None and is_of_wrong_rank(call))):
        return frozenset({(type(error), _SIZES.sub("#", text_of(error)))})
    sizes = unfit_sizes(outcome)
    unfit: frozenset[object] = sizes.union(*map(_relations, sizes)) or _shapes_unfit(outcome)
    if unfit or error is None:
        return unfit
    rank = refused_rank(outcome)
    if rank is not None:
        return frozenset({rank})
    if is_of_wrong_type(outcome) or is_computed_for_parameter(error):
        return frozenset({(type(error), text_of(error))})
    if call is None:
        is_unpacked = isinstance(error, ValueError) and unpacked_names(text_of(error), starred=True) is not None
        return frozenset({text_of(error)}) if is_unpacked else frozenset()
    if outcome.refuses_inputs:
        # An input may be something else than a tensor, such as the dict whose keys are asked for.
        return frozenset()
    # With data, it may be their values that are wrong.
    has_data = any(type(each) is torch.Tensor for each in call.taken)
    text = _SIZES.sub("#", text_of(error)) if _RANK.search(text_of(error)) else text_of(error)
    return frozenset() if has_data else frozenset({(type(error), text)})


def _relations(unfit: tuple[int, int, int]) -> frozenset[object]:
    at, one, two = unfit
    if not one or not two:
        return frozenset()
    return frozenset({("difference", at, one - two), ("quotient", at, Fraction(one, two))})


def is_of_wrong_type(outcome: TrialOutcome) -> bool:
    """Return whether a value that is no tensor was used as one, in a run that has come past its inputs.

    Such as the tuple that a layer returns, or None of a function without ``return``.
    """
    error = outcome.error
    if outcome.refuses_inputs or outcome.model is None:
        return False
    if isinstance(error, AttributeError):
        return isinstance(error.obj, _WRONG_TYPES) and type(error.obj) is not torch.Size
    return isinstance(error, TypeError) and _OF_TYPES.search(text_of(error)) is not None


def is_of_ranks(outcome: TrialOutcome) -> bool:
    """Return whether tensors of several ranks are joined, or a dimension does not exist: no size changes that."""
    call = outcome.failing
    if isinstance(outcome.error, IndexError) and _BEYOND.search(text_of(outcome.error)):
        return True
    if call is None or call.name.strip("_") not in _JOINING:
        return False
    return len({tensor.dim() for tensor in call.taken}) > 1


def is_of_refused_rank(outcome: TrialOutcome) -> bool:
    """Return whether the only reason is a rank that an operation refuses, which follows from that of an input."""
    return reasons_of(outcome) == frozenset({refused_rank(outcome)})


def is_of_dtype(outcome: TrialOutcome) -> bool:
    """Return whether the type of numbers is refused that an operation before has made, which no size changes."""
    call, text = outcome.failing, text_of(outcome.error or ValueError())
    is_of_indices = call is not None and call.name == "embedding" and "scalar types" in text
    return isinstance(outcome.error, RefusedTypesError) or (is_of_indices and not outcome.refuses_inputs)


def is_of_weights(outcome: TrialOutcome) -> bool:
    """Return whether all sizes that do not fit come from parameters of the model."""
    call, known = outcome.failing, outcome.weight_sizes
    sizes = unfit_sizes(outcome)
    if call is None or known is None or not sizes:
        return False
    name, operands = call.name.strip("_"), call.operands
    if len(operands) == 2 and BROADCASTING.fullmatch(name):
        return all(known.is_fixed(each, -1 - at) for at, _, _ in sizes for each in operands if each.dim() > at)
    misfit = misfit_of(call)
    if misfit is None or not known.is_fixed(misfit.operand, misfit.dimension):
        return False
    others = [each for each in operands if each is not misfit.operand]
    if name in PRODUCTS:
        return len(others) == 1 and known.is_fixed(others[0], -2 if others[0].dim() > 1 else -1)
    return any(isinstance(each, torch.nn.Parameter) for each in others)


def is_of_code(outcome: TrialOutcome) -> bool:
    """Return whether what does not fit comes from parameters, or is of a type that no size changes."""
    return is_of_weights(outcome) or is_of_wrong_type(outcome) or is_of_dtype(outcome)


def _shapes_unfit(outcome: TrialOutcome) -> frozenset[object]:
    """Return which elements or sizes do not fit a shape that is written in the call."""
    call = outcome.failing
    name = "" if call is None else call.name.strip("_")
    if call is None or name not in ("view", "reshape", "expand") or not call.taken:
        return frozenset()
    given, rest = call.taken[0], call.args[1:]
    sizes = rest[0] if len(rest) == 1 and isinstance(rest[0], (tuple, list)) else rest
    if not sizes or not all(type(size) is int for size in sizes):
        return frozenset()
    if name == "expand":
        pairs = zip(reversed(given.shape), reversed(sizes), strict=False)
        unfit = ((at, int(have), want) for at, (have, want) in enumerate(pairs))
        return frozenset(each for each in unfit if each[1] not in (1, each[2]) and each[2] != -1)
    # How many times the elements are those of the shape stays the same where both have the batch.
    wanted = math.prod(size for size in sizes if size != -1)
    return (
        frozenset({(sizes.count(-1), Fraction(given.numel(), wanted))})
        if wanted and sizes.count(-1) < 2
        else frozenset()
    )


def unfit_sizes(outcome: TrialOutcome) -> _Unfit:
    """Return sizes that should be equal in what raised; none where they are not known."""
    call = outcome.failing
    if call is None:
        return frozenset() if outcome.error is None else _unfit_in_recurrent(text_of(outcome.error))
    beyond = _BEYOND.search(text_of(outcome.error)) if isinstance(outcome.error, IndexError) else None
    if beyond is not None and call.taken:
        # With another rank it fails alike, or the dimension exists.
        return frozenset({(0, 0, int(beyond.group(1)))})
    name, given = call.name.strip("_"), [value for value in call.args if isinstance(value, torch.Tensor)]
    if len(given) == 2 and BROADCASTING.fullmatch(name):
        pairs = zip_longest(reversed(given[0].shape), reversed(given[1].shape), fillvalue=1)
        unfit = ((index, *pair) for index, pair in enumerate(pairs))
        return frozenset(each for each in unfit if each[1] != each[2] and 1 not in each[1:])
    if name in _JOINING:
        ranks = {tensor.dim() for tensor in call.taken}
        if is_of_ranks(outcome):
            # By how many they differ stays the same where all have more.
            return frozenset({(0, 0, max(ranks) - min(ranks))})
        dim = call.args[1] if len(call.args) > 1 else call.kwargs.get("dim", 0)
        joined = dim - max(ranks) * (dim >= 0) if name != "stack" and type(dim) is int and ranks else 0
        return frozenset(each for each in _unequal(call.taken) if each[0] != joined)
    misfit = misfit_of(call)
    channels = _CHANNELS.search(text_of(outcome.error)) if misfit is None and outcome.error is not None else None
    if channels is not None:
        # Of an input without a batch.
        return frozenset({(0, int(channels.group(2)), int(channels.group(1)))})
    return frozenset() if misfit is None else frozenset({(0, misfit.got, misfit.want)})


def _unfit_in_recurrent(text: str) -> _Unfit:
    """Return the sizes of features (dimension 0) or of a state (-3 to -1) that a recurrent layer does not take."""
    features = _FEATURES.search(text)
    if features is not None:
        return frozenset({(0, int(features.group(2)), int(features.group(1)))})
    state = _STATE.match(text)
    if state is None:
        return frozenset()
    wanted, given = (map(int, sizes.split(", ")) for sizes in state.groups())
    pairs = enumerate(zip(given, wanted, strict=True))
    return frozenset((at - 3, *sizes) for at, sizes in pairs if sizes[0] != sizes[1])


def _unequal(given: list[torch.Tensor]) -> _Unfit:
    """Return the sizes of tensors of one rank that are not those of the first."""
    first = given[0].shape
    pairs = ((at, sizes) for each in given for at, sizes in enumerate(zip(first, each.shape, strict=False)))
    return frozenset((at - len(first), *sizes) for at, sizes in pairs if sizes[0] != sizes[1])
