"""The search: trials, the most promising one next, each error suggesting others."""

from __future__ import annotations

import heapq
import itertools
import re
import traceback
from collections import Counter, deque
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from types import ModuleType
from typing import Any

from ...report.recipes import Recipe
from ..failures import text_of
from ..torch_private import WITHOUT_DATA
from . import conditions, keys, kinds, lengths, messages, modes, operators, returned, states, unpackings, unset
from .attempts import Attempts, Call, Outcome, Under
from .bodies import body_of
from .budget import Budget, OutOfTimeError
from .contradictions import contradicts_itself
from .failing_lines import failing_text, own_frames, words_at
from .feeds import first_feed, further_inputs, optional_inputs, other_masks, part_of_input, written_feed
from .guesses import Group, Guess, Open, Text, Trial, changed
from .makings import first_making, further_arguments, optional_arguments, other_defaults
from .names import Names, is_configuration
from .settling import Settling, other_blocks, with_parts
from .variants import UNIFORM, alike, inputs_that_differ, other_feeds
from .wanted_sizes import with_wanted_sizes

_OTHER_EVERY = 5
"""Every so many tries one starts elsewhere, lest all go into a way that ends nowhere."""
_MOST_SUGGESTED = 40
"""Trials that one error may suggest."""
_MADE = (1, 0)
"""How far a trial has come whose model was made, and that failed before any operation had run."""
_NEARLY, _NEAR = (1, 1_000_000), 12
"""How far a trial counts to have come that ran until its chameleons were replaced, and for how many suggestions."""
_MOST_CAUSES = 3
_MOST_DEFAULTS = 4
"""Defaults that are changed, each by itself."""
_EMPTY = re.compile(r"\(\)|\[\]|empty|at least|out of range|not enough")
"""What is said where something has no elements."""
_LEFT_OUT = re.compile(r"\b(None|specif\w+|requires?d?|provided?|passed?|given|missing|have to|must)\b")
"""What is said where an argument was left out."""
_OF_OTHER_BRANCH = re.compile(r"module '[\w.]+' has no attribute")
"""What no argument mends, but which is not asked for where another branch is taken."""
_NOT_THERE = (KeyError, OSError)
"""What is raised where a constructor reads what is elsewhere, as weights or settings are: by default that is no mistake
of the class's."""
_NOT_CALLABLE = "'NoneType' object is not callable"
"""What is said where a layer was left out, or a flag says that there is none."""
_TRIES_TO_BE_SURE, _MILLISECONDS_TO_BE_SURE = 100, 600.0
"""That a model is at fault, after the search."""
_NUMBERS = re.compile(r"\d+")


@dataclass(frozen=True)
class Found:
    """What a search ended with."""

    init: str | None
    inputs: str | None
    tries: int
    milliseconds: float
    error: BaseException | None = None
    """What the furthest trial ended with, where no inputs were found that the model runs with."""
    fails: bool = False
    """Whether the model fails whatever it is fed: ``inputs`` are then those with which it gets furthest."""


class Search:
    """Looks for arguments with which a model can be made and run."""

    def __init__(self, module: ModuleType, under: Under, budget: Budget) -> None:
        self._module = module
        self._places = under.places
        self._sizes = under.sizes
        self._budget = budget
        self._names = Names()
        self._attempts = Attempts(module, under, self._part)
        self._waiting: list[tuple[int, int, int, int, int, Trial]] = []
        self._elsewhere: deque[Trial] = deque()
        self._order = itertools.count()
        self._best_place: dict[Trial, tuple[int, int, int, int]] = {}
        """Of each trial that waits, or has waited."""
        self._begun: set[Trial] = set()
        self._nearly: set[Trial] = set()
        """Those that ran with chameleons, and are now without: if these fail, there is little left to change."""
        self._failures: Counter[tuple[tuple[int, int], int, str]] = Counter()
        self._guessed: Trial | None = None
        self._guess_progress = (0, 0)
        self._unconfirmed: Trial | None = None
        self._furthest: tuple[Trial, Outcome] | None = None
        self._made: str | None = None
        self._optional: dict[str, Guess] = {}
        self._further: dict[str, list[Guess]] = {}
        self._defaults: dict[str, Guess] = {}

    def begin_with(self, guess: Recipe) -> None:
        """Try ``guess`` first, which was found before an edit."""
        self._guessed = Trial(Text(guess.init), None if guess.inputs is None else written_feed(guess.inputs))
        self._push(self._guessed, (3, 0), 0)

    def of_target(self, target: Any, name: str) -> Found:
        """Arguments for a class or factory, and inputs for what it makes."""
        self._names.read(body_of(target))
        first = first_making(target, name, self._names, self._module)
        self._optional = optional_arguments(target, self._names, self._module)
        self._further = further_arguments(target, self._names)
        self._defaults = other_defaults(target)
        self._push(Trial(first), (0, 0), 0)
        self._elsewhere.append(Trial(alike(first), None, UNIFORM))
        return self._searched()

    def of_model(self, init: str) -> Found:
        """Inputs for what ``init`` makes."""
        self._made = init
        self._push(Trial(Text(init)), (0, 0), 0)
        return self._searched()

    def _part(self, open_: Open, name: str) -> Guess:
        if name in ("weight", "bias") and not is_configuration(open_.name):
            # A layer's tensors, rather than whether it has some.
            return Open(name, 2)
        if name == "shape" and not open_.fed and not is_configuration(open_.name):
            return Open(name, open_.size)
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
        if inputs is None and self._unconfirmed is not None and self._unconfirmed.fed is not None:
            self._made, inputs = self._unconfirmed.init, self._unconfirmed.fed.text
        fails = inputs is None and self._fails()
        found = self._guessed if inputs is None and self._is_kept() else None
        if fails and self._furthest is not None:
            found = self._furthest[0]
        if found is not None and found.fed is not None:
            self._made, inputs = found.init, found.fed.text
        error = None if self._furthest is None else self._furthest[1].error
        return Found(self._made, inputs, self._budget.tries, self._budget.spent_ms, error, fails)

    def _is_kept(self) -> bool:
        """Whether no other inputs do better than those that were found before an edit."""
        furthest = _MADE if self._furthest is None else self._furthest[1].progress
        return self._guess_progress > _MADE and self._guess_progress >= furthest

    def _fails(self) -> bool:
        """Whether the model is at fault for the failure of the trial that got furthest."""
        budget = Budget(_TRIES_TO_BE_SURE, _MILLISECONDS_TO_BE_SURE)
        with suppress(Exception, OutOfTimeError), budget.enforced():
            return self._is_contradiction(budget)
        return False

    def _is_contradiction(self, budget: Budget) -> bool:
        def run(trial: Trial) -> Outcome | None:
            return self._attempts.run(trial) if budget.begin_try() else None

        return self._furthest is not None and contradicts_itself(*self._furthest, run, self._places)

    def _first_that_runs(self) -> str | None:
        while (trial := self._next()) is not None and self._budget.begin_try():
            try:
                trial = self._fed(trial)
                outcome = self._attempts.run(trial)
            except Exception as error:
                # A layer may have an unknown for its name, or a property that raises: so this model cannot be fed.
                outcome = replace(self._attempts.made(trial), error=error)
            if outcome.model is not None and self._made is None:
                self._note_made(trial, outcome)
            if outcome.error is None or _needs_data(outcome.error):
                if not trial.is_concrete or trial.fed is None:
                    settled = self._settled(trial, outcome)
                    self._nearly.add(settled)
                    self._push(settled, (2, 0), 0)
                    continue
                refuted = self._refuted(trial, outcome)
                if refuted is None:
                    return self._as_wanted(trial)
                # As far as fake tensors can tell it runs: that counts if nothing else does.
                self._unconfirmed = self._unconfirmed or trial
                outcome = refuted
            if trial == self._guessed:
                self._guess_progress = outcome.progress
            elif self._furthest is None or outcome.progress > self._furthest[1].progress:
                self._furthest = trial, outcome
            self._suggest(trial, outcome)
        return None

    def _refuted(self, trial: Trial, outcome: Outcome) -> Outcome | None:
        """How a trial fails with data that went as far as it can without; None if it does not, or nobody knows."""
        if outcome.error is None:
            return None
        really = self._attempts.run_with_data(trial)
        return None if really is None or really.error is None else really

    def _as_wanted(self, trial: Trial) -> str:
        """The inputs of a trial that runs, in the user's sizes as far as it runs with them."""
        with suppress(OutOfTimeError):
            trial = with_wanted_sizes(trial, self._sizes, self._runs)
        assert trial.fed is not None
        self._made = trial.init
        return trial.fed.text

    def _runs(self, trial: Trial) -> bool:
        if not self._budget.begin_try():
            return False
        error = self._attempts.run(trial).error
        return error is None or _needs_data(error)

    def _note_made(self, trial: Trial, outcome: Outcome) -> None:
        """Remember how the model can be made, if it can without a chameleon."""
        settled = replace(self._settled(trial, outcome), fed=None)
        if settled.is_concrete and self._attempts.made(settled).model is not None:
            self._made = settled.made.text

    def _next(self) -> Trial | None:
        if self._elsewhere and (not self._waiting or self._budget.tries % _OTHER_EVERY == _OTHER_EVERY - 1):
            return self._elsewhere.popleft()
        while self._waiting:
            trial = heapq.heappop(self._waiting)[-1]
            if trial not in self._begun:
                self._begun.add(trial)
                return trial
        return None

    def _push(self, trial: Trial, progress: tuple[int, int], rank: int, repeats: int = 0) -> None:
        """``repeats`` is how often a try ended as the one that suggests this: new errors tell more than old ones."""
        place = (-progress[0], -progress[1], repeats, rank)
        if trial not in self._best_place or place < self._best_place[trial]:
            self._best_place[trial] = place
            heapq.heappush(self._waiting, (*place, next(self._order), trial))

    def _fed(self, trial: Trial) -> Trial:
        """``trial`` with inputs, if its model can be made."""
        if trial.fed is not None:
            return trial
        model = self._attempts.made(trial).model
        if model is None:
            return trial
        feed = first_feed(model)
        if trial.uniform:
            feed = Group("fed", tuple((key, alike(part)) for key, part in feed.items))
        else:
            self._elsewhere += other_feeds(trial, feed, model)
        return replace(trial, fed=feed)

    def _settled(self, trial: Trial, outcome: Outcome) -> Trial:
        settling = Settling(outcome.uses, self._module)
        fed = None if trial.fed is None else settling.of(trial.fed, ("fed",))
        made = settling.of(trial.made, ("made",))
        return replace(trial, made=made, fed=fed if isinstance(fed, Group) else None)

    def _suggest(self, trial: Trial, outcome: Outcome) -> None:
        failure = (outcome.progress, *self._place_and_text(outcome.error))
        repeats = self._failures[failure]
        self._failures[failure] += 1
        for rank, other in enumerate(self._some_suggestions(trial, outcome)):
            is_near = trial in self._nearly and rank < _NEAR
            self._push(other, _NEARLY if is_near else outcome.progress, rank, repeats)

    def _some_suggestions(self, trial: Trial, outcome: Outcome) -> list[Trial]:
        found: list[Trial] = []
        try:
            found.extend(itertools.islice(self._suggestions(trial, outcome), _MOST_SUGGESTED))
        except Exception:
            # As in ``_searched``, but what was suggested so far counts, and so do the trials that wait.
            traceback.print_exc()
        return found

    def _place_and_text(self, error: BaseException | None) -> tuple[int, str]:
        """Where in the user's code ``error`` was raised, and its text but for numbers."""
        if error is None:
            return 0, ""
        frames = own_frames(error.__traceback__, self._places)
        return frames[0][1] if frames else 0, _NUMBERS.sub("#", text_of(error))

    def _suggestions(self, trial: Trial, outcome: Outcome) -> Iterator[Trial]:
        error = outcome.error
        if error is None or (isinstance(error, (NameError, ImportError)) and not isinstance(error, UnboundLocalError)):
            return
        yield from self._with_own_classes(trial, outcome)
        trial = self._with_parts(trial, outcome)
        if "Identity.forward()" in text_of(error):
            yield kinds.with_any_arguments(trial)
        if "missing 1 required positional argument: 'first'" in text_of(error):
            yield kinds.with_arguments_by_name(trial)
        frames = own_frames(error.__traceback__, self._places)[:1]
        words = words_at(frames)
        yield from lengths.read(trial, outcome, words, "".join(failing_text(*each) for each in frames))
        yield from conditions.read(trial, error)
        yield from unset.read(trial, error)
        yield from other_blocks(trial, self._module)
        text = text_of(error)
        yield from unpackings.read(trial, error, frames)
        yield from states.read(trial, error)
        if outcome.failing is not None and trial.fed is not None:
            yield from self._of_call(trial, outcome.failing, words)
        if self._may_lack_options(error, text):
            named = {name: guess for name, guess in self._optional.items() if name in words}
            yield from kinds.with_options(trial, error, named, self._places)
        yield from keys.read(trial, error, frames[0][0] if frames else None, words)
        if trial.fed is not None:
            told = (other for each in _with_causes(error) for other in messages.read(trial, text_of(each)))
            yield from returned.read(trial, outcome, words)
            # What the failing line names is more likely to be what is wrong.
            yield from sorted(told, key=lambda other: not inputs_that_differ(trial, other) & words)
            yield from self._with_options(trial, outcome, words)
            yield from modes.read(trial, own_frames(error.__traceback__, self._places))
            if _NOT_CALLABLE in text:
                yield from self._with_other_defaults(trial)
            yield from other_masks(trial, set())
            if outcome.model is not None:
                yield from (replace(trial, fed=fed) for fed in further_inputs(outcome.model, trial.fed))
        yield from self._by_another_branch(trial, outcome)
        for key, guesses in self._further.items() if _EMPTY.search(text) and "missing" not in text else ():
            if isinstance(trial.made, Group) and key not in dict(trial.made.items):
                yield from (changed(trial, ("made", key), guess) for guess in guesses)
        if self._may_lack_options(error, text):
            yield from kinds.with_options(trial, error, self._optional, self._places)
        yield from kinds.read(trial, outcome, self._names, self._places)

    def _of_call(self, trial: Trial, failing: Call, words: set[str]) -> Iterator[Trial]:
        """What the call of torch's that raised suggests; ``words`` are of the failing line."""
        if operators.takes_mask(failing):
            yield from other_masks(trial, words)
        if operators.edges_differ(failing):
            yield from self._with_other_defaults(trial)
        yield from operators.read(trial, failing)

    def _may_lack_options(self, error: BaseException, text: str) -> bool:
        """Whether an argument of the constructor that defaults to None may have to be passed."""
        if "NoneType" in text or isinstance(error, (AssertionError, UnboundLocalError)) or _EMPTY.search(text):
            return True
        return isinstance(error, ValueError) and not self._optional.keys().isdisjoint(re.findall(r"\w+", text))

    def _with_own_classes(self, trial: Trial, outcome: Outcome) -> Iterator[Trial]:
        """What was called without its class being known: sizes that it passes on tell nothing of the real one's."""
        if any(use.calls for use in outcome.uses.values()):
            settled = self._settled(trial, outcome)
            yield settled
            yield replace(settled, fed=None)

    def _with_other_defaults(self, trial: Trial) -> Iterator[Trial]:
        """What tells whether a layer keeps the edges of a map may have a default with which it does not."""
        if isinstance(trial.made, Group):
            for name, guess in itertools.islice(self._defaults.items(), _MOST_DEFAULTS):
                if name not in dict(trial.made.items):
                    yield changed(trial, ("made", name), guess)

    def _by_another_branch(self, trial: Trial, outcome: Outcome) -> Iterator[Trial]:
        """What decides by its default that a constructor reads what is not there has another value."""
        error = outcome.error
        if outcome.model is not None or not isinstance(error, _NOT_THERE) or not isinstance(trial.made, Group):
            return
        decisive = conditions.decisive(own_frames(error.__traceback__, self._places)[:2])
        passed = dict(trial.made.items)
        for name, guess in (*self._defaults.items(), *self._optional.items()):
            if name in decisive and name not in passed:
                yield changed(trial, ("made", name), guess)

    def _with_parts(self, trial: Trial, outcome: Outcome) -> Trial:
        told = with_parts(trial, outcome.uses)
        self._attempts.note_same(trial.made, told.made)
        return told

    def _with_options(self, trial: Trial, outcome: Outcome, words: set[str]) -> Iterator[Trial]:
        """Inputs that may be left out and must not be: all that the failing line names at once, then each."""
        error = outcome.error
        if error is None or outcome.model is None or not _is_about_none(error, outcome.failing is None):
            return
        options = dict(optional_inputs(outcome.model, trial.fed))
        named = words | set(re.findall(r"\w+", text_of(error)))
        missing = [key for key in options if key.rstrip("=") in named]
        together = trial
        for key in missing if len(missing) > 1 else ():
            together = changed(together, ("fed", key), options[key])
        if together != trial:
            yield together
        for key in sorted(options, key=lambda key: key not in missing):
            yield changed(trial, ("fed", key), options[key])


def _is_about_none(error: BaseException, is_users: bool) -> bool:
    """Whether something may have been left out that must not be; ``is_users`` if no function of torch's raised."""
    text = text_of(error)
    if isinstance(error, UnboundLocalError) or _OF_OTHER_BRANCH.match(text):
        return True
    return "NoneType" in text or (is_users and (isinstance(error, AssertionError) or bool(_LEFT_OUT.search(text))))


def _needs_data(error: BaseException) -> bool:
    """Whether only data could tell how the run would go on: it went as far as fake tensors can go."""
    return isinstance(error, WITHOUT_DATA) or "not supported for tensor subclasses" in text_of(error)


def _with_causes(error: BaseException) -> Iterator[BaseException]:
    """``error`` and those that it was raised for, which often say more."""
    current: BaseException | None = error
    for _ in range(_MOST_CAUSES):
        if current is not None:
            yield current
            current = current.__cause__ or current.__context__
