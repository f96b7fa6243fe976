"""The search: trials, the most promising one next, each error suggesting others."""

from __future__ import annotations

import heapq
import itertools
import traceback
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

import torch

from ...report.recipes import Recipe
from ..failures import text_of
from ..torch_private import WITHOUT_DATA
from . import kinds, messages, operators
from .attempts import Attempts, Outcome, Under
from .budget import Budget, OutOfTimeError
from .feeds import first_feed, optional_inputs, other_inputs, other_masks, part_of_input, written_feed
from .guesses import Group, Guess, Open, Size, Tensor, Text, Trial, changed
from .makings import first_making, optional_arguments
from .names import Names
from .settling import Settling

_UNIFORM = 4
"""Where distinct sizes lead nowhere everything has this one: what was to be equal then is."""
_OTHER_EVERY = 5
"""Every so many tries one starts elsewhere, lest all go into a way that ends nowhere."""
_MOST_SUGGESTED = 40
"""Trials that one error may suggest."""


@dataclass(frozen=True)
class Found:
    """What a search ended with."""

    init: str | None
    inputs: str | None
    tries: int
    milliseconds: float
    error: BaseException | None = None
    """What the furthest trial ended with, where inputs were not found."""


class Search:
    """Looks for arguments with which a model can be made and run."""

    def __init__(self, module: ModuleType, under: Under, budget: Budget) -> None:
        self._module = module
        self._places = under.places
        self._budget = budget
        self._names = Names()
        self._attempts = Attempts(module, under, self._part)
        self._waiting: list[tuple[int, int, int, int, Trial]] = []
        self._elsewhere: deque[Trial] = deque()
        self._order = itertools.count()
        self._seen: set[Trial] = set()
        self._best: tuple[tuple[int, int], BaseException | None] = ((-1, 0), None)
        self._made: str | None = None
        self._optional: dict[str, Guess] = {}

    def begin_with(self, guess: Recipe) -> None:
        """Try ``guess`` first, which was found before an edit."""
        self._push(Trial(Text(guess.init), None if guess.inputs is None else written_feed(guess.inputs)), (3, 0), 0)

    def of_target(self, target: Any, name: str) -> Found:
        """Arguments for a class or factory, and inputs for what it makes."""
        first = first_making(target, name, self._names, self._module)
        self._optional = optional_arguments(target, self._names, self._module)
        self._push(Trial(first), (0, 0), 0)
        alike = Group("call", tuple((key, _alike(part)) for key, part in first.items), name)
        self._elsewhere.append(Trial(alike, None, _UNIFORM))
        return self._searched()

    def of_model(self, init: str) -> Found:
        """Inputs for what ``init`` makes."""
        self._made = init
        self._push(Trial(Text(init)), (0, 0), 0)
        return self._searched()

    def _part(self, open_: Open, name: str) -> Guess:
        return part_of_input(open_, name) if open_.fed else self._names.of(name)

    def _searched(self) -> Found:
        inputs = None
        try:
            with self._budget.enforced():
                inputs = self._first_that_runs()
        except OutOfTimeError:
            pass
        except Exception:
            # Signatures, annotations and attributes that are looked at may be anything of the user's, and raise. What
            # was found so far counts; why no more was goes to the log.
            traceback.print_exc()
        return Found(self._made, inputs, self._budget.tries, self._budget.spent_ms, self._best[1])

    def _first_that_runs(self) -> str | None:
        while (trial := self._next()) is not None and self._budget.begin_try():
            trial = self._fed(trial)
            outcome = self._attempts.run(trial)
            if outcome.model is not None and self._made is None:
                self._note_made(trial, outcome)
            if outcome.error is None or _needs_data(outcome.error):
                if trial.is_concrete and trial.fed is not None:
                    self._made = trial.made.text
                    return trial.fed.text
                self._push(self._settled(trial, outcome), (2, 0), 0)
                continue
            if outcome.progress > self._best[0]:
                self._best = outcome.progress, outcome.error
            self._suggest(trial, outcome)
        return None

    def _note_made(self, trial: Trial, outcome: Outcome) -> None:
        """Remember how the model can be made, if it can without a chameleon."""
        settled = replace(self._settled(trial, outcome), fed=None)
        if settled.is_concrete and self._attempts.made(settled).model is not None:
            self._made = settled.made.text

    def _next(self) -> Trial | None:
        if self._elsewhere and (not self._waiting or self._budget.tries % _OTHER_EVERY == _OTHER_EVERY - 1):
            return self._elsewhere.popleft()
        return heapq.heappop(self._waiting)[-1] if self._waiting else None

    def _push(self, trial: Trial, progress: tuple[int, int], rank: int) -> None:
        if trial not in self._seen:
            self._seen.add(trial)
            heapq.heappush(self._waiting, (-progress[0], -progress[1], rank, next(self._order), trial))

    def _fed(self, trial: Trial) -> Trial:
        """``trial`` with inputs, if its model can be made."""
        if trial.fed is not None:
            return trial
        model = self._attempts.made(trial).model
        if model is None:
            return trial
        feed = first_feed(model)
        if trial.uniform:
            feed = Group("fed", tuple((key, _alike(part)) for key, part in feed.items))
        else:
            self._elsewhere += _other_feeds(trial, feed, model)
        return replace(trial, fed=feed)

    def _settled(self, trial: Trial, outcome: Outcome) -> Trial:
        settling = Settling(outcome.uses, self._module)
        fed = None if trial.fed is None else settling.of(trial.fed, ("fed",))
        made = settling.of(trial.made, ("made",))
        return replace(trial, made=made, fed=fed if isinstance(fed, Group) else None)

    def _suggest(self, trial: Trial, outcome: Outcome) -> None:
        suggested = itertools.islice(self._suggestions(trial, outcome), _MOST_SUGGESTED)
        for rank, other in enumerate(suggested):
            self._push(other, outcome.progress, rank)

    def _suggestions(self, trial: Trial, outcome: Outcome) -> Iterator[Trial]:
        error = outcome.error
        if error is None or isinstance(error, (NameError, ImportError)):
            return
        if outcome.failing is not None and trial.fed is not None:
            yield from operators.read(trial, outcome.failing)
        if trial.fed is not None:
            yield from messages.read(trial, text_of(error))
            yield from self._with_options(trial, outcome, text_of(error))
            yield from other_masks(trial)
        if "NoneType" in text_of(error):
            yield from kinds.with_options(trial, error, self._optional, self._places)
        yield from kinds.read(trial, outcome, self._names, self._places)

    def _with_options(self, trial: Trial, outcome: Outcome, text: str) -> Iterator[Trial]:
        """Inputs that may be left out and must not be."""
        if "NoneType" in text and outcome.model is not None:
            for key, guess in optional_inputs(outcome.model, trial.fed):
                yield changed(trial, ("fed", key), guess)


def _needs_data(error: BaseException) -> bool:
    """Whether only data could tell how the run would go on: it went as far as fake tensors can go."""
    return isinstance(error, WITHOUT_DATA) or "not supported for tensor subclasses" in text_of(error)


def _alike(part: Guess) -> Guess:
    """The part with the size that everything has."""
    if isinstance(part, Open):
        return replace(part, size=_UNIFORM)
    if isinstance(part, Size):
        return Size(_UNIFORM)
    if isinstance(part, Tensor):
        return replace(part, shape=(_UNIFORM,) * 4)
    if isinstance(part, Group):
        return replace(part, items=tuple((key, _alike(inner)) for key, inner in part.items))
    return part


def _other_feeds(trial: Trial, feed: Group, model: torch.nn.Module) -> Iterator[Trial]:
    """The same tensor for each input that is a tensor: those that layers of the model take, and usual ones."""
    for tensor in other_inputs(model):
        items = tuple((key, tensor if isinstance(part, Tensor) else part) for key, part in feed.items)
        yield replace(trial, fed=Group("fed", items))
    yield replace(trial, fed=Group("fed", tuple((key, _alike(part)) for key, part in feed.items)))
