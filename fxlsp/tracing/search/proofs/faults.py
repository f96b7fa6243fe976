"""Whether a model is at fault for the failure of a trial: no other inputs, and no other arguments, could mend it."""

from __future__ import annotations

from contextlib import suppress

from torch import nn

from ...isolation.torch_private import WITHOUT_DATA
from ...model.diagnosis.failures import text_of
from ...model.diagnosis.own_mistakes import is_own_mistake, waits_for_attribute
from ..conditions import follows_values
from ..evidence import TargetFacts, own_frames
from ..trials.budget import WORK, Budget, OutOfBudgetError
from ..trials.runner import TrialOutcome, TrialRunner
from ..trials.values import Text, Trial
from .coincidences import is_made_of_numbers, runs_only_where, runs_only_with_batch, with_moved_batch
from .effects import Run, place_of
from .flattening import condition_of_maps
from .listed_inputs import may_be_listed
from .normalised_edges import runs_only_with_edge, with_other_edges
from .proof import contradicts_itself, fails_without_inputs, of_other_ranks
from .reasons import is_of_code
from .returned import is_of_fixed_parts
from .stated_images import condition_of_stated_image, that_misses_alike, with_stated_image
from .transpositions import weight_without_transposition
from .unmade import is_never_made

_TRIES_OF_PROOF, _WORK_OF_PROOF = 120, 3 * WORK // 2
_TRIES_OF_LARGE_PROOF = 48
"""Tries of the proof of a large model. Most take no time, since its first layer refuses them."""


class ModelFaults:
    """Proofs that a model fails whatever its inputs are."""

    def __init__(self, facts: TargetFacts, runner: TrialRunner) -> None:
        self._facts = facts
        self._runner = runner
        self.is_configuration_sure = True
        """Whether no argument is a configuration of which the code makes several."""
        self.is_init_given = False
        """Whether the construction is not searched."""
        self.only = ""
        """Under which condition alone the model runs, where that is its mistake."""

    def proof_of(self, trial: Trial, outcome: TrialOutcome) -> Trial | None:
        """Return a trial that shows that the model is at fault for the failure of a trial; None if it may not be.

        No other inputs could mend the failure of that one, which is most often the trial itself.
        """
        is_given = self.is_given(trial)
        if outcome.error is not None and is_own_mistake(outcome.error, outcome.model, is_given):
            return trial
        if outcome.error is not None and waits_for_attribute(outcome.error):
            return None
        if outcome.model is None:
            return trial if self._is_never_made(trial, outcome) else None
        is_varied = is_given or self._is_made_by_numbers(trial, outcome)
        if trial.inputs is None or not (is_varied or is_made_of_numbers(trial)):
            return None
        budget = self._budget_of_proof()

        def run(other: Trial) -> TrialOutcome | None:
            return self._run_to_the_end(other) if budget.begin_try() else None

        def run_without_data(other: Trial) -> TrialOutcome | None:
            return self._runner.run(other, is_strict=True) if budget.begin_try() else None

        with suppress(Exception, OutOfBudgetError), budget.enforced():
            places, outcome = self._facts.places, run(trial) or outcome
            if is_given and fails_without_inputs(trial, outcome, run, places):
                return trial
            if may_be_listed(trial, outcome, places) and not is_of_fixed_parts(outcome, places):
                return None
            if self.is_conditional(trial, outcome):
                return trial
            if outcome.error is None:
                return None
            # Images that are many times larger are none for a run with data.
            other = (
                self.depends_on_batch(trial, run, outcome)
                or self.normalises_edges(trial, run_without_data)
                or self.misses_stated_image(trial, run_without_data, outcome)
            )
            is_failing = other is None and (
                self._has_maps(trial, outcome, run_without_data)
                or (is_varied and contradicts_itself(trial, outcome, run, places))
            )
            return trial if is_failing else other
        return None

    def _is_never_made(self, trial: Trial, outcome: TrialOutcome) -> bool:
        budget = self._budget_of_proof()

        def made(other: Trial) -> TrialOutcome | None:
            return self._runner.construct(other) if budget.begin_try() else None

        with suppress(Exception, OutOfBudgetError), budget.enforced():
            return self.is_configuration_sure and is_never_made(trial, outcome, self._facts, made)
        return False

    def proven_behind(self, trial: Trial) -> BaseException | None:
        """Return an error behind linear layers that fit no input, which comes whatever these layers are given.

        Sizes of layers that do not fit, or a value of a wrong type. None without one.
        """
        if not trial.is_concrete or trial.inputs is None:
            return None
        budget, places = self._budget_of_proof(), self._facts.places

        def run(other: Trial) -> TrialOutcome | None:
            return self._runner.run(other, is_strict=True, is_past_unfit=True) if budget.begin_try() else None

        with suppress(Exception, OutOfBudgetError), budget.enforced():
            outcome = run(trial)
            if outcome is None or outcome.error is None or not outcome.is_behind_unfit or not is_of_code(outcome):
                return None
            if waits_for_attribute(outcome.error):
                return None
            # No run has the size that the layer takes: nothing else may decide which way it goes.
            codes = [frame.f_code for frame, _ in own_frames(outcome.error.__traceback__, places)]
            is_varied = self.is_given(trial) or self._is_made_by_numbers(trial, outcome)
            if is_varied and not any(map(follows_values, codes)):
                return outcome.error if contradicts_itself(trial, outcome, run, places) else None
        return None

    def _budget_of_proof(self) -> Budget:
        return Budget(self._runner.meter, _TRIES_OF_PROOF, _WORK_OF_PROOF, _TRIES_OF_LARGE_PROOF)

    def is_conditional(self, trial: Trial, outcome: TrialOutcome) -> bool:
        """Return whether the model of a failed trial runs under one condition alone, which is its mistake.

        :attr:`only` is that condition then. A guessed flag, such as ``batch_first``, may be what is wrong.
        """
        is_known = outcome.error is not None and self._is_of_numbers(trial)
        self.only = (runs_only_where(trial, outcome) or "") if is_known else ""
        return bool(self.only)

    def exchanges_axes(self, trial: Trial, outcome: TrialOutcome) -> bool:
        """Return whether a trial failed since a weight, of which one side was moved, has its axes exchanged.

        :attr:`only` is the condition then. What else such a trial fails by are two arguments that have to be equal.
        """
        is_known = outcome.error is not None and self._is_of_numbers(trial)
        self.only = (weight_without_transposition(outcome) or "") if is_known else ""
        return bool(self.only)

    def depends_on_batch(self, trial: Trial, run: Run, failed: TrialOutcome | None = None) -> Trial | None:
        """Return a failing trial with another batch, where with that the model is at fault; None if it is not.

        :attr:`only` is the condition under which it runs then. With inputs of another rank it must not run.

        Args:
            trial: The trial.
            run: Runs another one.
            failed: How the trial fails itself; the condition is to be about that operation.
        """
        places = self._facts.places
        for moved in with_moved_batch(trial) if self._is_of_numbers(trial) else ():
            outcome = run(moved)
            if outcome is None or outcome.error is None:
                return None
            # It may fail in an earlier call of the same code, where sizes of the first one were equal by chance.
            if failed is not None and place_of(failed, places)[:1] != place_of(outcome, places)[:1]:
                return None
            found = runs_only_with_batch(moved, outcome, places)
            if found is not None and all(_fails(run(other)) for other in of_other_ranks(moved)):
                self.only = found
                return moved
        return None

    def normalises_edges(self, trial: Trial, run: Run) -> Trial | None:
        """Return a failing trial with other edges of its image, where the model normalises an edge for channels.

        :attr:`only` is the condition under which it runs then.
        """
        moved = with_other_edges(trial, self._model_of(trial)) if self._is_of_numbers(trial) else None
        outcome = None if moved is None else run(moved)
        self.only = "" if outcome is None else runs_only_with_edge(outcome, self._facts.places) or ""
        return moved if self.only else None

    def misses_stated_image(self, trial: Trial, run: Run, failed: TrialOutcome | None = None) -> Trial | None:
        """Return a failing trial with the square image that the constructor states, if none of such edges runs.

        :attr:`only` is the condition under which the model runs then. A guessed argument states as much if the image
        misses alike with other numbers.

        Args:
            trial: The trial.
            run: Runs another one.
            failed: How the trial fails itself; the condition is to be about that operation.
        """
        model, places = self._model_of(trial), self._facts.places
        stated = with_stated_image(trial, model) if model is not None and self._is_of_numbers(trial) else None
        outcome = None if stated is None else run(stated)
        if model is None or stated is None or outcome is None or outcome.error is None:
            return None
        if failed is not None and place_of(failed, places) != place_of(outcome, places):
            return None
        if not self.is_given(trial):
            stated = that_misses_alike(stated, self._model_of, run, places)
        model = None if stated is None else self._model_of(stated)
        if model is None or stated is None:
            return None
        found = condition_of_stated_image(stated, model, run, places)
        if found is None:
            return None
        self.only = found
        return stated

    def _model_of(self, trial: Trial) -> nn.Module | None:
        return self._runner.construct(trial).model

    def is_given(self, trial: Trial) -> bool:
        """Return whether no argument of the constructor was guessed."""
        if isinstance(trial.init, Text) and not self.is_init_given:
            # What an earlier search wrote.
            return trial.init.code.removesuffix(".eval()").endswith("()")
        return isinstance(trial.init, Text) or not trial.init.parts

    def _has_maps(self, trial: Trial, outcome: TrialOutcome, run: Run) -> bool:
        """Return whether a trial fails since maps are not flattened; :attr:`only` is the condition then."""
        self.only = condition_of_maps(trial, outcome, run) or ""
        return bool(self.only)

    def _is_of_numbers(self, trial: Trial) -> bool:
        """Return whether nothing but numbers was guessed of the arguments."""
        return self.is_given(trial) or is_made_of_numbers(trial)

    def _is_made_by_numbers(self, trial: Trial, outcome: TrialOutcome) -> bool:
        """Return whether nothing but numbers was guessed of the arguments, so that a proof can vary them.

        Not where other configurations might be meant, or where an optional argument may be what is None.
        """
        if isinstance(trial.init, Text) or not self.is_configuration_sure:
            return False
        return not (self._facts.optional and "NoneType" in text_of(outcome.error or ValueError()))

    def _run_to_the_end(self, trial: Trial) -> TrialOutcome:
        """Run a trial as data would, with data where only these can tell how it goes on."""
        outcome = self._runner.run(trial, is_strict=True)
        is_undecided = outcome.error is not None and needs_data(outcome.error)
        return (self._runner.run_with_data(trial) or outcome) if is_undecided else outcome


def _fails(outcome: TrialOutcome | None) -> bool:
    return outcome is not None and outcome.error is not None


def needs_data(error: BaseException) -> bool:
    """Return whether only data could tell how the run would go on: it went as far as fake tensors can go."""
    return isinstance(error, WITHOUT_DATA) or "not supported for tensor subclasses" in text_of(error)
