"""The form in which a trial that runs is written: as people write it, in the user's sizes, with sizes apart."""

from __future__ import annotations

import traceback
from contextlib import suppress

from .conventions import as_people_write
from .evidence import TargetFacts
from .priors.tables import BATCH
from .proofs.coincidences import has_size, with_moved_sizes
from .proofs.faults import ModelFaults, needs_data
from .proofs.stated_images import has_square_image, with_stated_image
from .proofs.transpositions import with_other_weights
from .trials.budget import Budget, OutOfBudgetError
from .trials.runner import RunConditions, TrialOutcome, TrialRunner
from .trials.values import Trial
from .wanted_sizes import with_wanted_sizes

MORE_FOR_CONVENTIONS = 24
"""Tries after one that runs with unusual inputs."""
_TRIES_OF_PROOFS = 80
"""With another batch, and with inputs of other ranks where it shows a mistake; with images of other edges, where one is
stated that is not the trial's; and with another argument. However much work they are."""


class FinalForm:
    """Rewrites a trial that runs as long as it still runs."""

    def __init__(
        self, facts: TargetFacts, runner: TrialRunner, faults: ModelFaults, conditions: RunConditions, budget: Budget
    ) -> None:
        self._facts = facts
        self._runner = runner
        self._faults = faults
        self._sizes = conditions.sizes
        self._budget = budget
        self.sizes_note = ""
        """Which sizes that the user wants do not run."""

    def of_trial(self, trial: Trial, is_of_before: bool) -> Trial:
        """Return a trial that runs, in the user's sizes as far as it runs with them.

        Args:
            trial: The trial.
            is_of_before: Whether it is what was found before an edit, and keeps its form.
        """
        with suppress(OutOfBudgetError):
            if not is_of_before:
                self._budget.allow(MORE_FOR_CONVENTIONS)
                trial = as_people_write(trial, self._runs, self._facts.names.takes_images)
                trial = self._with_stated_image(trial)
            self._budget.allow(MORE_FOR_CONVENTIONS)
            trial, note = with_wanted_sizes(trial, self._sizes, self._runs)
            # Without tries left it is not known with which sizes it runs.
            self.sizes_note = "" if self._budget.is_spent else note
            trial = self._without_coincidences(trial)
        return trial

    def _with_stated_image(self, trial: Trial) -> Trial:
        """Return a trial with a square image where it has another one, and an argument states such an image."""
        model = self._runner.construct(trial).model
        stated = None if model is None or has_square_image(trial) else with_stated_image(trial, model)
        return trial if stated is None or not self._runs(stated) else stated

    def _without_coincidences(self, trial: Trial) -> Trial:
        """Return what :meth:`_with_sizes_apart` does; the trial itself if that fails, which must not lose it."""
        try:
            return self._with_sizes_apart(trial)
        except Exception:
            # Attributes and parameters that are looked at may be anything of the user's. Why goes to the log.
            traceback.print_exc()
            return trial

    def _with_sizes_apart(self, trial: Trial) -> Trial:
        """Return a trial that runs, with other sizes where those that it has hide what the model does with them.

        Either the model is wrong, and fails with sizes that mean different things and are not equal, or a later edit
        would hide behind a length that is a size of the model too.
        """
        # What the search has spent must not decide whether a mistake is found.
        budget = Budget(self._runner.meter, _TRIES_OF_PROOFS, large=_TRIES_OF_PROOFS)

        def run(other: Trial) -> TrialOutcome | None:
            return self._strictly(other, budget)

        other = self._faults.depends_on_batch(trial, run) or self._faults.normalises_edges(trial, run)
        if other is not None:
            return other
        model = self._runner.construct(trial).model
        if not has_square_image(trial):
            stated = self._faults.misses_stated_image(trial, run)
            if stated is not None:
                return stated
        for weighted in () if model is None else with_other_weights(trial, model, run):
            outcome = run(weighted)
            if outcome is not None and self._faults.exchanges_axes(weighted, outcome):
                return weighted
        apart = None
        for size, moved in with_moved_sizes(trial, self._sizes.sequence):
            outcome = self._strictly(moved, self._budget)
            if outcome is None:
                break
            if self._faults.is_conditional(moved, outcome):
                return moved
            is_chosen = size == BATCH or size in self._sizes.all or has_size(moved, size)
            if apart is None and outcome.error is None and size in outcome.sizes and not is_chosen:
                apart = moved
        return apart or trial

    def _strictly(self, trial: Trial, budget: Budget) -> TrialOutcome | None:
        """Run a trial as data would; None if there are no tries left."""
        return self._runner.run(trial, is_strict=True) if budget.begin_try() else None

    def _runs(self, trial: Trial) -> bool:
        if not self._budget.begin_try():
            return False
        error = self._runner.run(trial).error
        return error is None or needs_data(error)
