"""Proof that a model fails whatever its inputs are: then its failure is reported, and is none of the search's.

Two sizes that do not fit, and of which neither follows a number that was guessed, are the model's own. A guessed number
is known to be without influence if the model fails with others in the same place by the same sizes, or cannot have
others: a layer with weights refuses them before.
"""

from __future__ import annotations

import dis
import linecache
import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import zip_longest
from typing import Literal

import torch

from ..building.failures import text_of
from ..locations.source_map import SourceMap
from ..plain_pass.costs import MixedTypesError
from .evidence import own_frames
from .priors.inputs import optional_inputs
from .priors.tables import BATCH
from .rules.ranks_dtypes import is_of_wrong_rank, of_rank
from .rules.sizes import BROADCASTING, misfit_of
from .runner import TrialOutcome
from .values import DType, Group, Path, Size, Tensor, Text, Trial, changed, leaves, part_at, tensors, with_dimension

Run = Callable[[Trial], TrialOutcome | None]
"""What comes of a trial; None if there is no time left for it."""
_Unfit = frozenset[tuple[int, int, int]]
"""Which dimension, counted from the last, has which two sizes that should be one."""
_Number = tuple[Path, int]
"""A dimension of an input, or with the index 0 an input that is a number."""
_Effect = Literal["same", "refused", "other", "unknown"]
"""What comes of other numbers: the same failure, one of a layer that does not take them, something that shows that they
matter, or nothing that tells."""
_CHANGES: tuple[Callable[[int], int], ...] = (lambda old: 2 * old, lambda old: 3 * old, lambda old: old + 1)
_LARGEST_RANK = 5
_OTHER_KINDS = ("None", "'text'", "(1, 2)", "{'key': 1}")
_BEYOND = re.compile(r"^Dimension out of range .*but got (-?\d+)")
_CHANNELS = re.compile(r"to have (\d+) channels, but got (\d+) channels")
_DOUBLES = re.compile(r"\b(?:double|float64|DoubleTensor|set_default_dtype)\b")
_JOINING = ("cat", "concat", "concatenate", "stack")
_RANK = re.compile(r"\b\d-?D\b")
"""In what torch says about a rank that an operation does not take."""
_SIZES = re.compile(r"(?<=\[)[\d, ]+(?=\])")
_BY_PYTHON = re.compile(r"equal to input_size\. Expected (\d+), got (\d+)")
"""What torch's recurrent layers say, which look at sizes before they call a function."""


def contradicts_itself(trial: Trial, outcome: TrialOutcome, run: Run, places: SourceMap) -> bool:
    """Return whether a failed trial would fail in the same place with any inputs.

    False wherever that is not known.
    """
    model = outcome.model
    if model is None or not _reasons(outcome) or not _is_all_sizes(trial) or _may_be_of_another_type(outcome, places):
        return False
    effects = _Effects(outcome, run, places)
    options = optional_inputs(model, trial.inputs)
    if any(effects.of(changed(trial, ("inputs", key), guess)) != "same" for key, guess in options):
        return False
    others = (other for other in _of_other_ranks(trial) if effects.of(other) == "other")
    if not all(_fails_alike(other, effects.place, run, places) for other in others):
        return False
    if any(effects.of(other) == "other" for other in _of_other_types(trial)):
        return False
    return _is_without_influence(trial, effects)


def _may_be_of_another_type(outcome: TrialOutcome, places: SourceMap) -> bool:
    """Return whether the types of operands might fit in a model that a script turns to another type.

    Not if one of them is of integers, which no layer has, nor if doubles are named once in the file, where they are
    made: in a model of doubles nothing has to be made double.
    """
    error = outcome.error
    if not isinstance(error, MixedTypesError) or not all(dtype.is_floating_point for dtype in error.dtypes):
        return False
    if not error.dtypes <= {torch.float32, torch.float64}:
        return True
    files = {frame.f_code.co_filename for frame, _ in own_frames(error.__traceback__, places)}
    return sum(len(_DOUBLES.findall(line)) for file in files for line in linecache.getlines(file)) > 1


def _fails_alike(trial: Trial, place: tuple[object, ...], run: Run, places: SourceMap) -> bool:
    """Return whether a trial with inputs of another rank fails in the same place by reasons of its own, always.

    Without a batch, for example, other sizes do not fit than with one.
    """
    outcome = run(trial)
    if outcome is None or outcome.error is None or outcome.model is None or not _reasons(outcome):
        return False
    effects = _Effects(outcome, run, places)
    return effects.place == place and _is_without_influence(trial, effects)


def _is_without_influence(trial: Trial, effects: _Effects) -> bool:
    """Return whether no number of the inputs has an influence on a failure."""
    refused = 0
    for alike in _numbers(trial):
        together = effects.of(*(_with(trial, alike, change) for change in _CHANGES))
        alone = [effects.of(_with(trial, [number], _CHANGES[0])) for number in alike] if len(alike) > 1 else [together]
        if "other" in (together, *alone) or (together == "unknown" and "unknown" in alone):
            return False
        # Those that nothing is known of alone have to be equal: together they are one number.
        refused += alone.count("refused") + (together == "refused" and "unknown" in alone)
    # Of two that are refused the sum may be what a layer takes.
    return effects.is_repeated and refused < 2


def fails_without_inputs(trial: Trial, outcome: TrialOutcome, run: Run, places: SourceMap) -> bool:
    """Return whether a trial fails before anything of an input is used: it does so with inputs of any kind."""
    given = trial.inputs
    if outcome.model is None or outcome.failing is not None or not isinstance(given, Group) or not _is_all_sizes(trial):
        return False
    if _is_raised_on_purpose(outcome.error):
        # A method that a subclass has to define.
        return False
    effects = _Effects(outcome, run, places)
    kinds = (Group(given.kind, tuple((key, Text(text)) for key, _ in given.items)) for text in _OTHER_KINDS)
    return all(effects.is_the_same_error(replace(trial, inputs=kind)) for kind in kinds)


def _is_raised_on_purpose(error: BaseException | None) -> bool:
    """Return whether the innermost instruction of the traceback is a ``raise``."""
    entry = None if error is None else error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    if entry is None:
        return False
    return dis.opname[entry.tb_frame.f_code.co_code[entry.tb_lasti]] == "RAISE_VARARGS"


class _Effects:
    """What other numbers change in a failure."""

    def __init__(self, outcome: TrialOutcome, run: Run, places: SourceMap) -> None:
        self._first = outcome
        self._run = run
        self._places = places
        self._reasons = _reasons(outcome)
        self.place = self._place_of(outcome)
        self.is_repeated = False
        """Whether any trial failed in the same place."""

    def is_the_same_error(self, trial: Trial) -> bool:
        """Return whether a trial fails in the same place by the same error."""
        came, first = self._run(trial), self._first.error
        if came is None or came.error is None or first is None or self._place_of(came) != self.place:
            return False
        return type(came.error) is type(first) and text_of(came.error) == text_of(first)

    def of(self, *trials: Trial) -> _Effect:
        """Run them all: some may be refused for being no multiple of something."""
        effects = {self._of(trial) for trial in trials}
        return next((effect for effect in ("other", "same", "refused") if effect in effects), "unknown")

    def _of(self, trial: Trial) -> _Effect:
        came = self._run(trial)
        if came is None or came.error is None:
            return "other"
        is_there, is_as_far = self._place_of(came) == self.place, came.progress >= self._first.progress
        if is_there and self._reasons & _reasons(came):
            self._reasons &= _reasons(came)
            self.is_repeated = True
            return "same"
        if isinstance(came.error, MixedTypesError):
            # A layer does not take the type, which has nothing to do with sizes.
            return "refused"
        if is_as_far and (_reasons(came) or not is_there):
            return "other"
        # It fails earlier, or there for another reason, as for its rank.
        return "refused" if not is_as_far and _is_by_weights(came) else "unknown"

    def _place_of(self, outcome: TrialOutcome) -> tuple[object, ...]:
        assert outcome.error is not None
        return tuple((frame.f_code, line) for frame, line in own_frames(outcome.error.__traceback__, self._places))


def _is_all_sizes(trial: Trial) -> bool:
    """Return whether nothing was guessed but inputs that are tensors and numbers."""
    is_said = isinstance(trial.init, Text) or not trial.init.parts
    parts = [part for path, part in leaves(trial) if path[0] == "inputs"]
    return is_said and bool(parts) and all(isinstance(part, (Tensor, Size)) for part in parts)


def _numbers(trial: Trial) -> Iterator[list[_Number]]:
    """Yield the numbers of the inputs, equal ones together: they may have to be."""
    alike = defaultdict(list)
    for path, part in leaves(trial):
        if isinstance(part, Tensor):
            for index, size in enumerate(part.shape):
                alike[size].append((path, index))
        elif isinstance(part, Size):
            alike[part.value].append((path, 0))
    yield from alike.values()


def _with(trial: Trial, group: list[_Number], change: Callable[[int], int]) -> Trial:
    for path, index in group:
        part = part_at(trial, path)
        if isinstance(part, Tensor):
            trial = changed(trial, path, with_dimension(part, index, change(part.shape[index])))
        elif isinstance(part, Size):
            trial = changed(trial, path, Size(change(part.value)))
    return trial


def _of_other_ranks(trial: Trial) -> list[Trial]:
    """Return trials with inputs of another rank: each alone, and all of one rank."""
    given, found = tensors(trial), []
    for by in range(1 - _LARGEST_RANK, _LARGEST_RANK):
        found += [_with_rank(trial, [each], by, by_sizes) for each in given for by_sizes in (False, True)]
        for rank in sorted({len(tensor.shape) for _, tensor in given}):
            found.append(_with_rank(trial, [each for each in given if len(each[1].shape) == rank], by, True))
    return [other for other in dict.fromkeys(found) if other != trial]


def _with_rank(trial: Trial, given: list[tuple[Path, Tensor]], by: int, by_sizes: bool) -> Trial:
    """Return the trial with more dimensions, of which the last sizes stay, or the channels."""
    for path, tensor in given:
        rank = len(tensor.shape) + by
        if 0 < rank <= _LARGEST_RANK:
            other = replace(tensor, shape=((BATCH,) * by + tensor.shape)[-rank:]) if by_sizes else of_rank(tensor, rank)
            trial = changed(trial, path, other)
    return trial


def _of_other_types(trial: Trial) -> list[Trial]:
    """Return trials with integers in the place of floats and the other way around: each input alone, and all."""
    given = tensors(trial)
    others: dict[DType, DType] = {"float": "long", "long": "float"}
    typed = [(path, replace(each, dtype=others[each.dtype])) for path, each in given if each.dtype in others]
    trials = [changed(trial, path, other) for path, other in typed]
    together = trial
    for path, other in typed:
        together = changed(together, path, other)
    return [*trials, together] if len(typed) > 1 else trials


def _is_by_weights(outcome: TrialOutcome) -> bool:
    """Return whether it is parameters that sizes do not fit."""
    call = outcome.failing
    if call is None:
        return bool(_unfit(outcome))
    return any(isinstance(value, torch.nn.Parameter) for value in call.args) and bool(_reasons(outcome))


def _reasons(outcome: TrialOutcome) -> frozenset[object]:
    """Return why an operation failed: sizes that do not fit, else what torch or Python says about it, word for word."""
    error, call = outcome.error, outcome.failing
    if error is not None and (isinstance(error, MixedTypesError) or (call is not None and is_of_wrong_rank(call))):
        return frozenset({(type(error), _SIZES.sub("#", text_of(error)))})
    unfit: frozenset[object] = _unfit(outcome) or _shapes_unfit(outcome)
    if unfit or error is None:
        return unfit
    if call is None:
        is_unpacked = isinstance(error, ValueError) and "values to unpack" in text_of(error)
        return frozenset({text_of(error)}) if is_unpacked else frozenset()
    # With data, it may be their values that are wrong.
    has_data = any(type(each) is torch.Tensor for each in call.taken)
    text = _SIZES.sub("#", text_of(error)) if _RANK.search(text_of(error)) else text_of(error)
    return frozenset() if has_data else frozenset({(type(error), text)})


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


def _unfit(outcome: TrialOutcome) -> _Unfit:
    """Return sizes that should be equal in what raised; none where they are not known."""
    call = outcome.failing
    if call is None:
        match = _BY_PYTHON.search(text_of(outcome.error)) if outcome.error is not None else None
        return frozenset() if match is None else frozenset({(0, int(match.group(2)), int(match.group(1)))})
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
        if len(ranks) > 1:
            # By how many they differ stays the same where all have more.
            return frozenset({(0, 0, max(ranks) - min(ranks))})
    if name == "stack":
        return _unequal(call.taken)
    misfit = misfit_of(call)
    channels = _CHANNELS.search(text_of(outcome.error)) if misfit is None and outcome.error is not None else None
    if channels is not None:
        # Of an input without a batch.
        return frozenset({(0, int(channels.group(2)), int(channels.group(1)))})
    return frozenset() if misfit is None else frozenset({(0, misfit.got, misfit.want)})


def _unequal(given: list[torch.Tensor]) -> _Unfit:
    """Return the sizes of tensors of one rank that are not those of the first."""
    first = given[0].shape
    pairs = ((at, sizes) for each in given for at, sizes in enumerate(zip(first, each.shape, strict=False)))
    return frozenset((at - len(first), *sizes) for at, sizes in pairs if sizes[0] != sizes[1])
