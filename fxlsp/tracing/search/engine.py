"""The search: trials, the most promising one next, each failure suggesting others."""

from __future__ import annotations

import itertools
import traceback
from collections import Counter, defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from types import ModuleType
from typing import Any

from ...report.locations import Location
from ...report.recipes import Recipe
from ..model.diagnosis.own_mistakes import is_own_mistake
from .conventions import breaches, is_degenerate, is_without_layers
from .evidence import Evidence, TargetFacts, further, place_and_text
from .final_form import MORE_FOR_CONVENTIONS, FinalForm
from .priors.inputs import first_inputs
from .priors.written import named_inputs, written_inputs
from .proofs.faults import ModelFaults, needs_data
from .rules import RuleCounts, suggestions
from .rules.measured import SOLVED, measurement_of
from .starts import Starts, alike, other_starts, starting
from .synthesis import Synthesis, with_parts
from .trials.budget import Budget, OutOfBudgetError
from .trials.runner import RunConditions, TrialOutcome, TrialRunner
from .trials.trial_queue import TrialQueue
from .trials.values import Group, Origin, Progress, Text, Trial

_MOST_SUGGESTED = 40
"""Trials that one failure may suggest."""
_CONSTRUCTED: Progress = (1, 0)
"""How far a trial came whose model was constructed, and that failed before any operation had run."""
_GUESSED: Progress = (3, 0)
_SYNTHESISED: Progress = (2, 0)
_NEARLY: Progress = (1, 1_000_000)
"""How far a trial counts to have come that ran until its duck values were replaced."""
_NEAR = 12
"""For how many of its suggestions it does."""


@dataclass(frozen=True)
class SearchResult:
    """The arguments that a search found, and what it cost."""

    init: str | None
    inputs: str | None
    tries: int
    work: int
    error: BaseException | None = None
    """What the furthest trial ended with, where no inputs were found that the model runs with."""
    fails: bool = False
    """Whether the model fails whatever its inputs are: ``inputs`` are then those with which it gets furthest."""
    only: str = ""
    """Under which condition alone it runs, where that condition is the mistake: "runs only where ..."."""
    sizes_note: str = ""
    """Which sizes that the user wants the inputs do not have, since the model does not run with them."""
    rules: Mapping[str, RuleCounts] = field(default_factory=dict)
    failing: tuple[Location, ...] = ()
    """The calling expressions of what fails whatever its inputs are, where a trial has failed there."""


class Search:
    """A best-first search for arguments with which a model can be constructed and run."""

    def __init__(self, module: ModuleType, conditions: RunConditions, budget: Budget) -> None:
        self._facts = TargetFacts(module, conditions.places)
        self._budget = budget
        self._queue = TrialQueue()
        self._starts = Starts(self._facts, self._queue)
        self._runner = TrialRunner(module, conditions, self._starts.part, budget.meter)
        self._faults = ModelFaults(self._facts, self._runner)
        self._final_form = FinalForm(self._facts, self._runner, self._faults, conditions, budget)
        self._nearly: set[Trial] = set()
        """Those that ran with duck values, and are now without: if these fail, there is little left to change."""
        self._failures: Counter[tuple[Progress, int, str]] = Counter()
        self._counts: defaultdict[str, RuleCounts] = defaultdict(RuleCounts)
        self._guessed: Trial | None = None
        self._guess_outcome: TrialOutcome | None = None
        """How the trial of what was found before an edit failed."""
        self._is_guess_unmade = False
        """Whether the model cannot be constructed any more as it was before an edit."""
        self._is_guess_kept = False
        self._found: Trial | None = None
        """Of the trials that run the one that keeps most conventions."""
        self._unconfirmed: tuple[Trial, TrialOutcome] | None = None
        """A trial that ran as far as fake tensors can, and how it failed with data."""
        self._furthest: tuple[Trial, TrialOutcome] | None = None
        self._furthest_apart: tuple[Trial, TrialOutcome] | None = None
        """Of the trials whose sizes are neither 1 nor equal by an edit alone."""
        self._init: str | None = None

    def begin_with(self, guess: Recipe) -> None:
        """Try ``guess`` first, which was found before an edit."""
        self._guessed = Trial(Text(guess.init), None if guess.inputs is None else written_inputs(guess.inputs))
        self._queue.push(starting(self._guessed, "what was found before"), _GUESSED, 0)

    def of_target(self, target: Any, name: str) -> SearchResult:
        """Search arguments for a class or factory, and inputs for the model that it returns."""
        self._faults.is_configuration_sure = self._starts.of_target(target, name)
        return self._result()

    def of_model(self, init: str) -> SearchResult:
        """Search inputs for the model that ``init`` constructs."""
        self._init = init
        self._faults.is_init_given = True
        self._queue.push(Trial(Text(init)), (0, 0), 0)
        return self._result()

    def _result(self) -> SearchResult:
        inputs = None
        try:
            with self._budget.enforced():
                inputs = self._first_that_runs()
        except OutOfBudgetError:
            if self._found is not None and self._found.inputs is not None:
                self._init, inputs = self._found.init_text, self._found.inputs.text
        except Exception:
            # Signatures, annotations and attributes that are looked at may be anything of the user's, and raise. What
            # was found so far counts; why no more was goes to the log.
            traceback.print_exc()
        failing: tuple[Location, ...] = ()
        fails, best = bool(self._faults.only), None if inputs is not None else self._best_failure()
        if best is not None:
            is_furthest, best = best is self._furthest, self._without_unknowns(*best)
            proof = self._faults.proof_of(*best) or self._proof_of_furthest(best[1])
            behind = self._faults.proven_behind(best[0]) if proof is None else None
            error = behind or best[1].error
            fails, is_taken = (proof or behind) is not None, best[0].is_concrete and not best[1].refuses_inputs
            failing = tuple(self._facts.places.of_traceback(error)) if fails and error is not None else ()
            shown = best[0] if proof is None or (self._furthest is not None and proof is self._furthest[0]) else proof
            if shown.inputs is not None and not shown.is_concrete:
                # What is unknown is written ``…``, which is no recipe, and may be an object with methods of its own.
                fails, failing = False, ()
            # An input that every layer has taken shows shapes up to the failure, also if other inputs might mend it.
            elif shown.inputs is not None and (fails or is_taken or not is_furthest):
                self._init, inputs = shown.init_text, shown.inputs.text
        error = None if self._furthest is None else self._furthest[1].error
        cost, notes = (self._budget.tries, self._budget.work), (self._faults.only, self._final_form.sizes_note)
        return SearchResult(self._init, inputs, *cost, error, fails, *notes, dict(self._counts), failing)

    def _without_unknowns(self, trial: Trial, outcome: TrialOutcome) -> tuple[Trial, TrialOutcome]:
        """Return a failed trial with values for what is unknown, if it gets as far with them."""
        if trial.is_concrete:
            return trial, outcome
        with suppress(Exception, OutOfBudgetError):
            concrete = self._synthesised(trial, outcome)
            again = self._runner.run(concrete)
            if concrete.is_concrete and again.error is not None and again.progress >= outcome.progress:
                self._furthest = concrete, again
                return self._furthest
        return trial, outcome

    def _best_failure(self) -> tuple[Trial, TrialOutcome] | None:
        """Return the failed trial that says most.

        That is what was found before an edit if that stays, else one that only data refute, else what was found before
        if nothing does better, else the furthest.
        """
        if self._is_guess_kept and self._guessed is not None and self._guess_outcome is not None:
            return self._guessed, self._guess_outcome
        if self._unconfirmed is not None:
            self._count_find(self._unconfirmed[0])
            return self._unconfirmed
        before, furthest = self._guess_outcome, _CONSTRUCTED if self._furthest is None else self._furthest[1].progress
        # What fails before any operation runs may be that the inputs are none that the model takes any more.
        fits = before is not None and (before.progress > _CONSTRUCTED or self._place_and_text(before.error)[0])
        if self._guessed is not None and before is not None and fits and before.progress >= furthest:
            return self._guessed, before
        return self._furthest

    def _proof_of_furthest(self, outcome: TrialOutcome) -> Trial | None:
        """Return a trial that shows the fault of a model of which the furthest trial failed like this one.

        The inputs of a guess are a text, of which nothing can be changed for a proof.
        """
        if self._furthest is None or self._furthest[1].progress != outcome.progress or self._furthest[1] is outcome:
            return None
        places = [self._place_and_text(error)[0] for error in (outcome.error, self._furthest[1].error)]
        return self._faults.proof_of(*self._furthest) if places[0] == places[1] else None

    def _first_that_runs(self) -> str | None:
        while (trial := self._queue.next(self._budget.tries)) is not None and self._budget.begin_try():
            try:
                trial = self._with_inputs(trial)
                outcome = self._runner.run(trial)
            except Exception as error:
                # A layer may have an unknown for its name, or a property that raises: this model cannot be called.
                outcome = replace(self._runner.construct(trial), error=error)
            self._count_progress(trial, outcome)
            if self._is_empty(trial, outcome):
                # It runs whatever it is given. Other arguments may make a model with layers.
                continue
            if outcome.model is not None and self._init is None:
                self._note_constructed(trial, outcome)
            if outcome.error is None or needs_data(outcome.error):
                if not trial.is_concrete or trial.inputs is None:
                    self._push_synthesised(trial, outcome)
                    continue
                refuted = self._refuted(trial, outcome)
                if refuted is None:
                    if self._is_wanted(trial):
                        break
                    continue
                # As far as fake tensors can say it runs: that counts if nothing else does.
                self._unconfirmed = self._unconfirmed or (trial, refuted)
                outcome = refuted
            if trial == self._guessed and self._guess_outcome is None:
                self._guess_outcome = outcome
                self._is_guess_unmade = outcome.model is None
                if self._stays(trial, outcome):
                    self._is_guess_kept = True
                    return None
                # Nothing is derived from it: other inputs are those of a file that is new.
                continue
            failed, places = (trial, outcome), self._facts.places
            self._furthest = further(self._furthest, failed, places)
            if not is_degenerate(trial):
                self._furthest_apart = further(self._furthest_apart, failed, places)
            self._suggest(trial, outcome)
        return self._text_of_found()

    def _is_empty(self, trial: Trial, outcome: TrialOutcome) -> bool:
        """Return whether guessed arguments have made a model without any of its layers, which runs."""
        if outcome.model is None or self._faults.is_given(trial):
            return False
        return (outcome.error is None or trial.inputs is None) and is_without_layers(outcome.model)

    def _is_wanted(self, trial: Trial) -> bool:
        """Keep a trial that runs if it is the best so far; return whether it is what people would write."""
        if self._found is None or breaches(trial) < breaches(self._found):
            self._found = trial
        if trial == self._guessed or not breaches(trial):
            return True
        self._budget.end_soon(MORE_FOR_CONVENTIONS)
        return False

    def _text_of_found(self) -> str | None:
        if self._found is None:
            return None
        if is_degenerate(self._found) and self._found != self._guessed:
            wrong = self._mistake_that_sizes_hide()
            if wrong is not None:
                return wrong
        self._count_find(self._found)
        trial = self._final_form.of_trial(self._found, is_of_before=self._found == self._guessed)
        assert trial.inputs is not None
        self._init = trial.init_text
        return trial.inputs.text

    def _mistake_that_sizes_hide(self) -> str | None:
        """Return inputs with which a model fails that runs only where sizes are 1 or equal, if that is its mistake."""
        if self._furthest_apart is None:
            return None
        with suppress(Exception):
            trial = self._synthesised(*self._furthest_apart)
            outcome = self._runner.run(trial, is_strict=True)
            if trial.is_concrete and trial.inputs is not None and self._faults.is_conditional(trial, outcome):
                self._init = trial.init_text
                return trial.inputs.text
        return None

    def _stays(self, trial: Trial, outcome: TrialOutcome) -> bool:
        """Return whether what was found before an edit is still what the model takes, though it fails now.

        It is if each input that was used has been accepted, or if the code fails whatever it is given. Otherwise the
        edit may have changed what an input has to be.
        """
        if outcome.model is None or trial.inputs is None or outcome.error is None:
            return False
        return not outcome.refuses_inputs or is_own_mistake(outcome.error, outcome.model, self._faults.is_given(trial))

    def _push_synthesised(self, trial: Trial, outcome: TrialOutcome) -> None:
        """Let the trial run again, without duck values."""
        concrete = self._synthesised(trial, outcome)
        self._nearly.add(concrete)
        self._queue.push(concrete, _SYNTHESISED, 0)

    def _refuted(self, trial: Trial, outcome: TrialOutcome) -> TrialOutcome | None:
        """Return how a trial fails with data that ran without; None if it does not, or that is unknown."""
        if outcome.error is not None:
            refuted = self._runner.run_with_data(trial)
        else:
            refuted = self._runner.run(trial, is_strict=True) if outcome.is_lenient else None
        return None if refuted is None or refuted.error is None else refuted

    def _note_constructed(self, trial: Trial, outcome: TrialOutcome) -> None:
        """Remember how the model can be constructed, if it can without a duck value."""
        concrete = replace(self._synthesised(trial, outcome), inputs=None)
        if concrete.is_concrete and self._runner.construct(concrete).model is not None:
            self._init = concrete.init.text

    def _with_inputs(self, trial: Trial) -> Trial:
        """Return ``trial`` with inputs, if its model can be constructed."""
        if trial.inputs is not None and trial != self._guessed:
            return trial
        model = self._runner.construct(trial).model
        if trial == self._guessed and trial.inputs is not None:
            self._guessed = trial = trial if model is None else replace(trial, inputs=named_inputs(model, trial.inputs))
            return trial
        if model is None:
            return trial
        given, *others = first_inputs(model)
        if trial.uniform:
            given = Group("inputs", tuple((key, alike(part)) for key, part in given.items))
        else:
            self._queue.begin_elsewhere(other_starts(trial, given, others, model))
        before = self._guessed
        if before is not None and before.inputs is not None and self._is_guess_unmade:
            # The constructor has other arguments than before: that is no reason for other inputs.
            self._queue.push(replace(trial, inputs=given), _GUESSED, 0)
            return replace(trial, inputs=named_inputs(model, before.inputs))
        return replace(trial, inputs=given)

    def _synthesised(self, trial: Trial, outcome: TrialOutcome) -> Trial:
        return Synthesis(outcome.uses, self._facts.module).of_trial(trial)

    def _suggest(self, trial: Trial, outcome: TrialOutcome) -> None:
        error = outcome.error
        failure = (outcome.progress, *self._place_and_text(error))
        repeats = self._failures[failure]
        self._failures[failure] += 1
        if error is None or (isinstance(error, (NameError, ImportError)) and not isinstance(error, UnboundLocalError)):
            return
        detailed = with_parts(trial, outcome.uses)
        self._runner.note_same(trial.init, detailed.init)
        evidence = Evidence(detailed, outcome, error, self._facts, lambda: self._synthesised(trial, outcome))
        counted, measurement = set(), measurement_of(evidence)
        for rank, (name, other) in enumerate(itertools.islice(suggestions(evidence), _MOST_SUGGESTED)):
            if name not in counted:
                counted.add(name)
                self._counts[name].calls += 1
            is_near = trial in self._nearly and rank < _NEAR
            origin = Origin((*trial.origin.rules, name), outcome.progress, measurement)
            # A probe fails as the trial before it does, which is no reason to let wait what it showed.
            times = 0 if name == SOLVED else repeats
            self._queue.push(replace(other, origin=origin), _NEARLY if is_near else outcome.progress, rank, times)

    def _place_and_text(self, error: BaseException | None) -> tuple[int, str]:
        return place_and_text(error, self._facts.places)

    def _count_progress(self, trial: Trial, outcome: TrialOutcome) -> None:
        if trial.origin.rules and outcome.progress > trial.origin.progress:
            self._counts[trial.origin.rules[-1]].further += 1

    def _count_find(self, trial: Trial) -> None:
        for name in dict.fromkeys(trial.origin.rules):
            self._counts[name].finds += 1
