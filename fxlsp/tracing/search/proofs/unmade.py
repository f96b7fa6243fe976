"""Proof that a model cannot be made: torch.nn or Python refuses the same thing whatever its constructor is given."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from traceback import walk_tb
from types import CodeType, FrameType

import torch

from ...model.diagnosis.constructor_mistakes import is_refused_by_layer
from ...model.diagnosis.failures import text_of
from ...model.locations.bytecode.instructions import raising_instruction, traceback_instructions
from ...model.locations.bytecode.opcodes import is_raise
from ...model.locations.code_origin import is_installed, is_torch
from ...model.locations.source_map import SourceMap
from ..evidence import TargetFacts
from ..trials.runner import TrialOutcome
from ..trials.values import Group, Guess, Path, Size, Text, Trial, changed, groups, leaves
from .effects import Run

_LARGE = 8
"""Smaller numbers may be counts, of which a large one makes a large model."""
_OF_MANY_DIVISORS = 2**6 * 3 * 5 * 7
_CHANGES: tuple[Callable[[int], int], ...] = (
    lambda old: 2 * old,
    lambda old: 3 * old,
    lambda old: old + 1,
    lambda old: 1,
    lambda old: _OF_MANY_DIVISORS if old >= _LARGE else 4,
)
_OTHER_KINDS: Mapping[str, type] = {
    "None": type(None),
    "'text'": str,
    "(1, 2)": tuple,
    "{'key': 1}": dict,
    "torch.zeros(3, 3)": torch.Tensor,
    "torch.nn.Identity()": torch.nn.Module,
    "torch.nn.ReLU": type,
    "0.5": float,
}
_LISTS = ("list", "tuple")
_FLAGS = {"True": "False", "False": "True"}
_FRACTION = re.compile(r"0\.\d+")


def is_never_made(trial: Trial, outcome: TrialOutcome, facts: TargetFacts, run: Run) -> bool:
    """Return whether torch.nn or Python refuses what the constructor of a failed trial does, whatever that is given.

    Each argument that was guessed is changed alone, all numbers together, and each argument is given values of other
    types. The same has to be refused again, or something that comes before it: a text is no size of a layer. False
    wherever that is not known.

    Args:
        trial: The trial, of which only the construction counts.
        outcome: How its construction failed.
        facts: What is known of the target.
        run: Constructs another one.
    """
    error, init = outcome.error, trial.init
    if not isinstance(init, Group) or init.kind != "call":
        return False
    compared = _Compared(outcome, facts.places, run)
    if error is None or not (is_refused_by_layer(error) or compared.is_of_python(error)):
        return False
    given = [(path, part) for path, part in leaves(trial) if path[0] == "init"]
    if not all(_is_plain(part) for _, part in given) or _has_stand_in(trial):
        return False
    sizes = [(path, part.value) for path, part in given if isinstance(part, Size)]
    for group in [[size] for size in sizes] + [sizes]:
        effects = [compared.of(_with(trial, group, change)) for change in _CHANGES] if group else ["same"]
        if "other" in effects or "same" not in effects:
            return False
    if any(compared.of(other) == "other" for other in _of_other_kinds(trial, init, facts)):
        return False
    return not any(map(compared.goes_further, compared.with_other_defaults(trial, init)))


def _is_plain(part: Guess) -> bool:
    """Return whether an argument is a number or a flag, of which others can be tried."""
    return isinstance(part, Size) or (isinstance(part, Text) and (part.code in _FLAGS or _is_fraction(part.code)))


def _has_stand_in(trial: Trial) -> bool:
    """Return whether an argument is an object with guessed attributes, in whose place belongs one of another class."""
    held = [group for path, group in groups(trial) if path[0] == "init" and len(path) > 1]
    return any(group.kind not in _LISTS for group in held)


def _is_fraction(code: str) -> bool:
    return _FRACTION.fullmatch(code) is not None


def _with(trial: Trial, numbers: list[tuple[Path, int]], change: Callable[[int], int]) -> Trial:
    for path, value in numbers:
        trial = changed(trial, path, Size(change(value)))
    return trial


def _of_other_kinds(trial: Trial, init: Group, facts: TargetFacts) -> Iterator[Trial]:
    """Yield trials with arguments of other types, with other flags, and with arguments that are left out."""
    for key, _ in init.items:
        yield from (changed(trial, ("init", key), Text(text)) for text in _OTHER_KINDS)
    for path, group in groups(trial):
        if path[0] == "init" and group.kind in _LISTS:
            yield from (changed(trial, path, _of_items(group, text)) for text in _OTHER_KINDS)
    for path, part in leaves(trial):
        if path[0] == "init" and isinstance(part, Text):
            others = [_FLAGS[part.code]] if part.code in _FLAGS else ["0.05", "1.0"]
            yield from (changed(trial, path, Text(other)) for other in others)
    for key, guess in (*facts.defaults.items(), *facts.optional.items()):
        yield changed(trial, ("init", key), guess)


def _of_items(group: Group, text: str) -> Group:
    return replace(group, items=tuple((key, Text(text)) for key, _ in group.items))


class _Compared:
    """Other constructions, compared with the one that failed."""

    def __init__(self, first: TrialOutcome, places: SourceMap, run: Run) -> None:
        self._first = first
        self._places = places
        self._run = run

    def of(self, trial: Trial) -> str:
        """Return whether another trial fails the "same", "before" it, or whether there is anything "other" to it."""
        came, first = self._run(trial), self._first
        if came is None or came.error is None or first.error is None or came.model is not None:
            return "other"
        place, wanted = self._place_of(came.error), self._place_of(first.error)
        if place == wanted:
            is_same = type(came.error) is type(first.error) and text_of(came.error) == text_of(first.error)
            return "same" if is_same else "other"
        return "before" if _is_before(place, wanted) or _made(came) < _made(first) else "other"

    def goes_further(self, trial: Trial) -> bool:
        """Return whether another trial passes the instruction that the first one fails at, as far as is known."""
        came, first = self._run(trial), self._first
        if came is None or came.error is None or first.error is None or came.model is not None:
            return True
        return self._place_of(came.error) != self._place_of(first.error) and self.of(trial) == "other"

    def with_other_defaults(self, trial: Trial, init: Group) -> Iterator[Trial]:
        """Yield trials that pass something of another type than its default for an argument that is not passed."""
        error, given = self._first.error, {key for key, _ in init.items}
        frames = [] if error is None else [frame for frame, _ in walk_tb(error.__traceback__)]
        made = [
            each for each in frames if each.f_code.co_name == "__init__" and self._is_shown(each.f_code.co_filename)
        ]
        for frame in made[:1]:
            code = frame.f_code
            names = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
            for name in [each for each in names if each not in given]:
                value = frame.f_locals.get(name)
                others = [text for text, kind in _OTHER_KINDS.items() if not isinstance(value, kind)]
                yield from (changed(trial, ("init", name), Text(text)) for text in others)

    def is_of_python(self, error: BaseException) -> bool:
        """Return whether an operator in the user's code refuses its operands, such as an index beyond a list.

        What the code raises on purpose is about what it is given, and so is None.
        """
        last = error.__traceback__
        while last is not None and last.tb_next is not None:
            last = last.tb_next
        is_of_operands = isinstance(error, (IndexError, TypeError, ValueError)) and "NoneType" not in text_of(error)
        if last is None or not is_of_operands or is_raise(raising_instruction(last)):
            return False
        return self._is_shown(last.tb_frame.f_code.co_filename)

    def _place_of(self, error: BaseException) -> list[tuple[CodeType, int]]:
        """Return the running instructions of the user's code, the outermost first."""
        return [each for each in traceback_instructions(error.__traceback__) if self._is_shown(each[0].co_filename)]

    def _is_shown(self, file: str) -> bool:
        return self._places.is_shown(file) and not is_installed(file)


def _made(outcome: TrialOutcome) -> int:
    """Return how many modules a failed construction has completed, and begun in the user's code."""
    frames = [] if outcome.error is None else [frame for frame, _ in walk_tb(outcome.error.__traceback__)]
    return outcome.progress[1] - sum(_is_of_layer(frame) for frame in frames)


def _is_of_layer(frame: FrameType) -> bool:
    is_constructor = frame.f_code.co_name == "__init__" and is_torch(frame.f_code.co_filename)
    return is_constructor and isinstance(frame.f_locals.get("self"), torch.nn.Module)


def _is_before(place: list[tuple[CodeType, int]], other: list[tuple[CodeType, int]]) -> bool:
    """Return whether one of two places comes before the other in the code that both ran."""
    for (code, instruction), (other_code, other_instruction) in zip(place, other, strict=False):
        if code is not other_code:
            return False
        if instruction != other_instruction:
            return instruction < other_instruction
    return False
