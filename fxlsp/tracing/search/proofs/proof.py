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

import torch

from ...model.capture.refused_types import RefusedTypesError
from ...model.diagnosis.own_mistakes import is_computed_for_parameter
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
from .assigned import is_always_assigned
from .effects import Effects, Number, Places, Run, guessed_numbers
from .listed_inputs import is_only_passed_to_layers
from .reasons import is_of_ranks, is_of_refused_rank, is_of_weights, is_of_wrong_type, reasons_of
from .refused_ranks import may_have_other_ranks
from .returned import is_always_returned, is_of_fixed_parts

_CHANGES: tuple[Callable[[int], int], ...] = (lambda old: 2 * old, lambda old: 3 * old, lambda old: old + 1)
_CHANGES_OF_ARGUMENTS: tuple[Callable[[int], int], ...] = (lambda _: 0, lambda _: 1, lambda _: 2)
_SMALL = 32
"""Smaller arguments may be modes, counts or strides, of which the least may do something else."""
_LARGEST_RANK = 5
_OF_NUMBERS = ("call", "list", "tuple", "namespace")
"""Kinds of what an argument may consist of."""
_OTHER_KINDS = ("None", "'text'", "(1, 2)", "{'key': 1}")
_OTHER_ARGUMENTS = ("None", "torch.zeros(3)", "torch.nn.Identity()")
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
    if is_computed_for_parameter(outcome.error) and not is_always_assigned(outcome, places):
        return False
    if is_of_fixed_parts(outcome, places) is False:
        # Fewer steps make fewer parts.
        return False
    if is_of_refused_rank(outcome) and may_have_other_ranks(outcome, places):
        return False
    effects = Effects(trial, outcome, run, places)
    if any(effects.of(other) != "same" for other in with_options):
        return False
    others = (other for other in of_other_ranks(trial) if effects.of(other) == "other")
    if not all(_fails_by_itself(other, effects.place, run, places) for other in others):
        return False
    return not _may_be_mended_by_type(trial, outcome, effects) and _is_without_influence(trial, effects)


def _may_be_mended_by_type(trial: Trial, outcome: TrialOutcome, effects: Effects) -> bool:
    """Return whether other types of inputs or arguments, or other fractions, of which sizes may follow, fail otherwise.

    An argument that is a number here may only be passed on to what takes no number.
    """
    if any(effects.of(other) == "other" for other in _of_other_types(trial)):
        return True
    if is_of_wrong_type(outcome) and any(map(effects.is_another, _with_other_arguments(trial))):
        return True
    return any(effects.of(other) != "same" for other in _with_other_fractions(trial))


def _with_other_arguments(trial: Trial) -> Iterator[Trial]:
    """Yield trials with something else than a number as one argument of the constructor."""
    for path, part in leaves(trial):
        if path[0] == "init" and isinstance(part, Size):
            yield from (changed(trial, path, Text(other)) for other in _OTHER_ARGUMENTS)


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
    if not isinstance(error, RefusedTypesError) or not all(dtype.is_floating_point for dtype in error.dtypes):
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
    if is_computed_for_parameter(outcome.error):
        return False
    if is_of_refused_rank(outcome) and may_have_other_ranks(outcome, places):
        return False
    effects = Effects(trial, outcome, run, places)
    trees = ("inputs",) if effects.place == place else ("init", "inputs")
    return is_of_ranks(outcome) or _is_without_influence(trial, effects, trees)


def _is_without_influence(trial: Trial, effects: Effects, trees: tuple[str, ...] = ("init", "inputs")) -> bool:
    """Return whether no number that was guessed has an influence on a failure; ``trees`` are those to vary."""
    refusing: list[Places] = []
    is_of_arguments = False
    for alike in _numbers(trial, trees):
        changes = _CHANGES + _CHANGES_OF_ARGUMENTS * _may_be_modes(trial, alike)
        together = effects.with_places(*(_with(trial, alike, change) for change in changes))
        apart = [_with(trial, [number], _CHANGES[0]) for number in alike] if len(alike) > 1 else []
        alone = [effects.with_places(each) for each in apart] or [together]
        kinds = [kind for kind, _ in alone]
        if "other" in (together[0], *kinds) or (together[0] == "unknown" and "unknown" in kinds):
            return False
        # Equal numbers that change nothing together are one number, and so are those that nothing is known of alone.
        if together[0] != "same":
            refused = [places for kind, places in alone if kind == "refused"]
            refusing += refused + [together[1]] * (together[0] == "refused" and "unknown" in kinds)
            is_of_arguments = is_of_arguments or any(path[0] == "init" for path, _ in alike)
    # Of two that are refused in one line the sum may be what a layer takes there. In different lines each of two sizes
    # of inputs is what it has to be. Arguments of the constructor may do more than one thing.
    is_each_fixed = not is_of_arguments and sum(map(len, refusing)) == len(frozenset().union(*refusing))
    return effects.is_repeated and (len(refusing) < 2 or is_each_fixed or effects.is_of_code)


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
    effects = Effects(trial, outcome, run, places)
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
    if not isinstance(part, Text) or part.code.startswith("torch.nn."):
        return False
    return _MADE_BY_CODE.fullmatch(part.code) is not None


def _is_fraction(part: Guess) -> bool:
    """Return whether an argument is a number below 1, such as the rate of a dropout."""
    return isinstance(part, Text) and _FRACTION.fullmatch(part.code) is not None


def _may_be_modes(trial: Trial, alike: list[Number]) -> bool:
    """Return whether one of several numbers is a small argument, or in a configuration, where all begin large."""
    of_namespaces = [path for path, group in groups(trial) if group.kind == "namespace"]
    paths = [path for path, _ in alike if path[0] == "init"]
    parts = [part_at(trial, path) for path in paths]
    is_small = any(isinstance(part, Size) and part.value < _SMALL for part in parts)
    return is_small or any(path[: len(each)] == each for path in paths for each in of_namespaces)


def _numbers(trial: Trial, trees: tuple[str, ...]) -> Iterator[list[Number]]:
    """Yield the numbers that were guessed, equal ones together: they may have to be."""
    alike = defaultdict(list)
    for (path, index), value in guessed_numbers(trial):
        if path[0] in trees:
            alike[value].append((path, index))
    yield from alike.values()


def _with(trial: Trial, group: list[Number], change: Callable[[int], int]) -> Trial:
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
