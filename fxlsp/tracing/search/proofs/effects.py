"""What other numbers change in a failure, where a failed trial is run once more with them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Literal

import torch

from ...model.capture.refused_types import RefusedTypesError
from ...model.diagnosis.failures import text_of
from ...model.locations.source_map import SourceMap
from ..evidence import own_frames
from ..trials.runner import TrialOutcome
from ..trials.values import Path, Size, Tensor, Trial, leaves
from .assigned import is_always_assigned
from .reasons import is_of_code, reasons_of, unfit_sizes
from .returned import is_of_fixed_parts

Run = Callable[[Trial], TrialOutcome | None]
"""What comes of a trial; None if there is no time left for it."""
Number = tuple[Path, int]
"""A dimension of an input, or with the index 0 an input that is a number."""
Places = frozenset[tuple[object, ...]]
"""Where trials failed, each as the running lines of the user's code."""
_Effect = Literal["same", "refused", "other", "unknown"]
"""What comes of other numbers: the same failure, one of a layer that does not take them, something that shows that they
matter, or nothing that tells."""


class Effects:
    """What other numbers change in a failure."""

    def __init__(self, trial: Trial, outcome: TrialOutcome, run: Run, places: SourceMap) -> None:
        self._first = outcome
        self._run = run
        self._places = places
        self._reasons = reasons_of(outcome) | _multiples(trial, outcome)
        self.place = self._place_of(outcome)
        self.is_repeated = False
        """Whether any trial failed in the same place."""
        self._refusing: Places = frozenset()
        self.is_of_code = (
            is_of_code(outcome) or bool(is_of_fixed_parts(outcome, places)) or is_always_assigned(outcome, places)
        )
        """Whether what does not fit comes from parameters, or is of a type that no size changes."""

    def is_the_same_error(self, trial: Trial) -> bool:
        """Return whether a trial fails in the same place by the same error."""
        came, first = self._run(trial), self._first.error
        if came is None or came.error is None or first is None or self._place_of(came) != self.place:
            return False
        return type(came.error) is type(first) and text_of(came.error) == text_of(first)

    def is_another(self, trial: Trial) -> bool:
        """Return whether a trial comes as far as the first, and does not fail there by the same error."""
        came = self._run(trial)
        if came is None or came.error is None:
            return True
        return came.progress >= self._first.progress and not self.is_the_same_error(trial)

    def of(self, *trials: Trial) -> _Effect:
        """Run them all: some may be refused for being no multiple of something."""
        return self.with_places(*trials)[0]

    def with_places(self, *trials: Trial) -> tuple[_Effect, Places]:
        """Return what :meth:`of` does, and the places at which layers refused any of them."""
        self._refusing = frozenset()
        effects = {self._of(trial) for trial in trials}
        return next((effect for effect in ("other", "same", "refused") if effect in effects), "unknown"), self._refusing

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
        if isinstance(came.error, RefusedTypesError):
            # A layer does not take the type, which has nothing to do with sizes.
            self._refusing |= {self._place_of(came)}
            return "refused"
        if is_as_far and (reasons or not is_there):
            return "other"
        # It fails earlier, or there for another reason, as for its rank.
        if is_as_far or not _is_by_weights(came):
            return "unknown"
        self._refusing |= {self._place_of(came)}
        return "refused"

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
    for (path, index), number in guessed_numbers(trial):
        if number:
            found.update((at, path, index, Fraction(one - two, number)) for at, one, two in unfit_sizes(outcome))
    return frozenset(found)


def guessed_numbers(trial: Trial) -> Iterator[tuple[Number, int]]:
    """Yield the sizes of a trial's tensors and its numbers, each with its place in the trial."""
    for path, part in leaves(trial):
        if isinstance(part, Tensor):
            yield from (((path, index), size) for index, size in enumerate(part.shape))
        elif isinstance(part, Size):
            yield (path, 0), part.value


def _is_by_weights(outcome: TrialOutcome) -> bool:
    """Return whether it is parameters that sizes do not fit."""
    call = outcome.failing
    if call is None:
        # Of a recurrent layer its features, in dimension 0, are as many as its weights have. A state has a batch too.
        return any(at == 0 for at, _, _ in unfit_sizes(outcome))
    return any(isinstance(value, torch.nn.Parameter) for value in call.operands) and bool(reasons_of(outcome))
