"""Proof that a model fails whatever its inputs are: then its failure is reported, and is none of the search's.

Two sizes that do not fit, and of which neither follows a number that was guessed, are the model's own. A guessed number
is known to be without influence if the model fails with others in the same place by the same sizes, or cannot have
others: a layer with weights refuses them before.
"""

from __future__ import annotations

import inspect
import linecache
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Literal

import torch

from ...model.capture.costs import MixedTypesError
from ...model.diagnosis.failures import text_of
from ...model.locations.bytecode.instructions import raising_instruction
from ...model.locations.bytecode.opcodes import is_raise
from ...model.locations.class_text import code_of
from ...model.locations.source_map import SourceMap
from ..evidence import own_frames
from ..priors.inputs import optional_inputs
from ..priors.tables import BATCH
from ..rules.ranks_dtypes import of_rank
from ..trials.runner import TrialOutcome
from ..trials.values import (
    DType,
    Group,
    Guess,
    Path,
    Size,
    Tensor,
    Text,
    Trial,
    changed,
    groups,
    leaves,
    part_at,
    tensors,
    with_dimension,
)
from .listed_inputs import is_only_passed_to_layers
from .reasons import is_of_dtype, is_of_ranks, is_of_weights, is_of_wrong_type, reasons_of, unfit_sizes
from .returned import is_always_returned

Run = Callable[[Trial], TrialOutcome | None]
"""What comes of a trial; None if there is no time left for it."""
_Number = tuple[Path, int]
"""A dimension of an input, or with the index 0 an input that is a number."""
_Effect = Literal["same", "refused", "other", "unknown"]
"""What comes of other numbers: the same failure, one of a layer that does not take them, something that shows that they
matter, or nothing that tells."""
_CHANGES: tuple[Callable[[int], int], ...] = (lambda old: 2 * old, lambda old: 3 * old, lambda old: old + 1)
_CHANGES_OF_ARGUMENTS: tuple[Callable[[int], int], ...] = (lambda _: 0, lambda _: 1, lambda _: 2)
_SMALL = 32
"""Smaller arguments may be modes, counts or strides, of which the least may do something else."""
_LARGEST_RANK = 5
_OF_NUMBERS = ("call", "list", "tuple", "namespace")
"""Kinds of what an argument may consist of."""
_OTHER_KINDS = ("None", "'text'", "(1, 2)", "{'key': 1}")
_FRACTION = re.compile(r"0\.\d+")
_MADE_BY_CODE = re.compile(r"[A-Za-z_][\w.]*\(\)")
_DOUBLES = re.compile(r"\b(?:double|float64|DoubleTensor|set_default_dtype)\b")


def contradicts_itself(trial: Trial, outcome: TrialOutcome, run: Run, places: SourceMap) -> bool:
    """Return whether a failed trial would fail in the same place with any inputs.

    False wherever that is not known.
    """
    model = outcome.model
    if model is None or not _is_all_sizes(trial):
        return False
    options = list(optional_inputs(model, trial.inputs))
    if is_of_weights(outcome):
        options = [each for each in options if not is_only_passed_to_layers(each[0].rstrip("="), model)]
    with_options = [changed(trial, ("inputs", key), guess) for key, guess in options]
    if is_always_returned(outcome, places):
        return not any(came is not None and came.error is None for came in map(run, with_options))
    if not reasons_of(outcome) or _may_be_of_another_type(outcome, places):
        return False
    effects = _Effects(trial, outcome, run, places)
    if any(effects.of(other) != "same" for other in with_options):
        return False
    others = (other for other in of_other_ranks(trial) if effects.of(other) == "other")
    if not all(_fails_by_itself(other, effects.place, run, places) for other in others):
        return False
    if any(effects.of(other) == "other" for other in _of_other_types(trial)):
        return False
    # Sizes may follow from a ratio.
    if any(effects.of(other) != "same" for other in _with_other_fractions(trial)):
        return False
    return _is_without_influence(trial, effects)


def _with_other_fractions(trial: Trial) -> Iterator[Trial]:
    for path, part in leaves(trial):
        if path[0] == "init" and isinstance(part, Text) and _is_fraction(part):
            for other in (float(part.code) / 2, 1.0):
                yield changed(trial, path, Text(str(other)))


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


def _fails_by_itself(trial: Trial, place: tuple[object, ...], run: Run, places: SourceMap) -> bool:
    """Return whether a trial with inputs of another rank always fails, by reasons of its own.

    Without a batch, for example, other sizes do not fit than with one, or a dimension does not exist, which no size
    mends. Of other failures at another ``place`` other arguments of the constructor might be the remedy.
    """
    outcome = run(trial)
    if outcome is None or outcome.error is None or outcome.model is None or not reasons_of(outcome):
        return False
    effects = _Effects(trial, outcome, run, places)
    trees = ("inputs",) if effects.place == place else ("init", "inputs")
    return is_of_ranks(outcome) or _is_without_influence(trial, effects, trees)


def _is_without_influence(trial: Trial, effects: _Effects, trees: tuple[str, ...] = ("init", "inputs")) -> bool:
    """Return whether no number that was guessed has an influence on a failure; ``trees`` are those to vary."""
    refused = 0
    for alike in _numbers(trial, trees):
        changes = _CHANGES + _CHANGES_OF_ARGUMENTS * _may_be_modes(trial, alike)
        together = effects.of(*(_with(trial, alike, change) for change in changes))
        alone = [effects.of(_with(trial, [number], _CHANGES[0])) for number in alike] if len(alike) > 1 else [together]
        if "other" in (together, *alone) or (together == "unknown" and "unknown" in alone):
            return False
        # Equal numbers that change nothing together are one number, and so are those that nothing is known of alone.
        if together != "same":
            refused += alone.count("refused") + (together == "refused" and "unknown" in alone)
    # Of two that are refused the sum may be what a layer takes.
    return effects.is_repeated and (refused < 2 or effects.is_of_code)


def fails_without_inputs(trial: Trial, outcome: TrialOutcome, run: Run, places: SourceMap) -> bool:
    """Return whether a trial fails before anything of an input is used: it does so with inputs of any kind."""
    given = trial.inputs
    if outcome.model is None or outcome.failing is not None or not isinstance(given, Group) or not _is_all_sizes(trial):
        return False
    if _is_raised_on_purpose(outcome.error) or (not given.items and _takes_any_number(outcome.model)):
        # A method that a subclass has to define; or one that is given nothing, and may be given something.
        return False
    if isinstance(outcome.error, NameError) and not isinstance(outcome.error, UnboundLocalError):
        # Another machine may bind it, or it had been a mistake of its own.
        return False
    effects = _Effects(trial, outcome, run, places)
    kinds = (Group(given.kind, tuple((key, Text(text)) for key, _ in given.items)) for text in _OTHER_KINDS)
    return all(effects.is_the_same_error(replace(trial, inputs=kind)) for kind in kinds)


def _takes_any_number(model: torch.nn.Module) -> bool:
    code = code_of(type(model).forward)
    return code is not None and bool(code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))


def _is_raised_on_purpose(error: BaseException | None) -> bool:
    """Return whether the innermost instruction of the traceback is a ``raise``."""
    entry = None if error is None else error.__traceback__
    while entry is not None and entry.tb_next is not None:
        entry = entry.tb_next
    return entry is not None and is_raise(raising_instruction(entry))


class _Effects:
    """What other numbers change in a failure."""

    def __init__(self, trial: Trial, outcome: TrialOutcome, run: Run, places: SourceMap) -> None:
        self._first = outcome
        self._run = run
        self._places = places
        self._reasons = reasons_of(outcome) | _multiples(trial, outcome)
        self.place = self._place_of(outcome)
        self.is_repeated = False
        """Whether any trial failed in the same place."""
        self.is_of_code = is_of_weights(outcome) or is_of_wrong_type(outcome) or is_of_dtype(outcome)
        """Whether what does not fit comes from parameters, or is of a type that no size changes."""

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
        reasons = reasons_of(came)
        alike = self._reasons & (reasons | _multiples(trial, came)) if is_there and reasons else frozenset()
        if alike:
            self._reasons = alike
            self.is_repeated = True
            return "same"
        if isinstance(came.error, MixedTypesError):
            # A layer does not take the type, which has nothing to do with sizes.
            return "refused"
        if is_as_far and (reasons or not is_there):
            return "other"
        # It fails earlier, or there for another reason, as for its rank.
        return "refused" if not is_as_far and _is_by_weights(came) else "unknown"

    def _place_of(self, outcome: TrialOutcome) -> tuple[object, ...]:
        return place_of(outcome, self._places)


def place_of(outcome: TrialOutcome, places: SourceMap) -> tuple[object, ...]:
    """Return the lines of the user's code that were running when a trial failed."""
    assert outcome.error is not None
    return tuple((frame.f_code, line) for frame, line in own_frames(outcome.error.__traceback__, places))


def _multiples(trial: Trial, outcome: TrialOutcome) -> frozenset[object]:
    """Return how many times a guessed number two sizes differ by: where that stays the same they never fit.

    Such as a layer that is made for one of two tensors that are joined before it.
    """
    found: set[object] = set()
    for (path, index), number in _values(trial):
        if number:
            found.update((at, path, index, Fraction(one - two, number)) for at, one, two in unfit_sizes(outcome))
    return frozenset(found)


def _values(trial: Trial) -> Iterator[tuple[_Number, int]]:
    for path, part in leaves(trial):
        if isinstance(part, Tensor):
            yield from (((path, index), size) for index, size in enumerate(part.shape))
        elif isinstance(part, Size):
            yield (path, 0), part.value


def _is_all_sizes(trial: Trial) -> bool:
    """Return whether nothing was guessed but numbers, and inputs that are tensors and numbers."""
    if any(path[0] == "init" and group.kind not in _OF_NUMBERS for path, group in groups(trial)):
        # An object that was made up.
        return False
    is_said = isinstance(trial.init, Text)
    made = () if is_said else [part for path, part in leaves(trial) if path[0] == "init"]
    parts = [part for path, part in leaves(trial) if path[0] == "inputs"]
    is_made = all(isinstance(part, Size) or _is_made_by_code(part) or _is_fraction(part) for part in made)
    return is_made and bool(parts) and all(isinstance(part, (Tensor, Size)) for part in parts)


def _is_made_by_code(part: Guess) -> bool:
    """Return whether an argument is what the user's own code makes, such as a configuration by its defaults."""
    return isinstance(part, Text) and _MADE_BY_CODE.fullmatch(part.code) is not None


def _is_fraction(part: Guess) -> bool:
    """Return whether an argument is a number below 1, such as the rate of a dropout."""
    return isinstance(part, Text) and _FRACTION.fullmatch(part.code) is not None


def _may_be_modes(trial: Trial, alike: list[_Number]) -> bool:
    """Return whether one of several numbers is a small argument, or in a configuration, where all begin large."""
    of_namespaces = [path for path, group in groups(trial) if group.kind == "namespace"]
    paths = [path for path, _ in alike if path[0] == "init"]
    parts = [part_at(trial, path) for path in paths]
    is_small = any(isinstance(part, Size) and part.value < _SMALL for part in parts)
    return is_small or any(path[: len(each)] == each for path in paths for each in of_namespaces)


def _numbers(trial: Trial, trees: tuple[str, ...]) -> Iterator[list[_Number]]:
    """Yield the numbers that were guessed, equal ones together: they may have to be."""
    alike = defaultdict(list)
    for (path, index), value in _values(trial):
        if path[0] in trees:
            alike[value].append((path, index))
    yield from alike.values()


def _with(trial: Trial, group: list[_Number], change: Callable[[int], int]) -> Trial:
    for path, index in group:
        part = part_at(trial, path)
        if isinstance(part, Tensor):
            trial = changed(trial, path, with_dimension(part, index, change(part.shape[index])))
        elif isinstance(part, Size):
            trial = changed(trial, path, Size(change(part.value)))
    return trial


def of_other_ranks(trial: Trial) -> list[Trial]:
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
        # Of a recurrent layer its features, in dimension 0, are as many as its weights have. A state has a batch too.
        return any(at == 0 for at, _, _ in unfit_sizes(outcome))
    return any(isinstance(value, torch.nn.Parameter) for value in call.operands) and bool(reasons_of(outcome))
