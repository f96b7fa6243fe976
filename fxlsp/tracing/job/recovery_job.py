"""Recovering pass of a request, in a process of its own: load, build and run the model past each failure."""

from __future__ import annotations

from collections.abc import Sequence

from ...wire.messages import RecoveredMessage
from ..model.building.builder import FakesFailedError, seeded, unwrap
from ..model.capture.feeding import ModelWithInputs, prepare_feed
from ..model.targets import targets_of
from ..passes.recovery.merge_reports import better_result, fails, recovered_message
from ..passes.recovery.recovering_pass import RecoveryResult, recover
from ..passes.recovery.tracer import RecoveringTracer
from .load import ModelFactory, RequestLoad
from .user_tracer import UserTracer

REAL_ELEMENTS = 2**28
"""Largest number of parameters with which a model is built with data (1 GiB of float32)."""


class RecoveryJob:
    """Recovering pass of a request with a complete recipe."""

    def __init__(self, load: RequestLoad) -> None:
        """
        Args:
            load: the load of the request, which has run.
        """
        self._models = ModelFactory(load)
        self._target = next(targets_of(load.request))
        self._source_map = load.source_map
        self._loader = load.loader
        self._tracer = UserTracer(load.request.tracer, self._loader, str(self._target))

    def run(self) -> RecoveredMessage:
        """Return the result of the recovering pass, for the process that makes the report.

        Raises:
            NoModelError: there is no model; the process of the plain pass reports the reason.
        """
        first = self._without_data()
        if not first.needs_data or first.elements > REAL_ELEMENTS:
            return recovered_message(first)
        # A value that only data determines is needed: repeat the pass with data.
        return recovered_message(better_result(first, self._with_data(seeds=(0, 1))))

    def _without_data(self) -> RecoveryResult:
        """Return the result of the recovering pass on a fake model, else on a real one."""
        try:
            return self._result(real_construction=False, with_data=False)
        except FakesFailedError:
            self._loader.unload()
            return self._result(real_construction=True, with_data=False)

    def _with_data(self, seeds: Sequence[int]) -> list[RecoveryResult]:
        """Return the results of the pass on a model with data; a further one only while the model fails."""
        results: list[RecoveryResult] = []
        for number in seeds:
            self._loader.unload()
            with seeded(number):
                results.append(self._result(real_construction=True, with_data=True))
            if not fails(results[-1]):
                break
        return results

    def _result(self, real_construction: bool, with_data: bool) -> RecoveryResult:
        made = self._models.build(self._target, real_construction)
        # The recovering pass shows the model itself; the plain pass decides whether its wrapper can be traced.
        built = unwrap(made.built)
        feed = prepare_feed(self._target, built, made.mode, self._source_map, with_data)
        subject = ModelWithInputs(str(self._target), built, made.builder.constructions, feed, made.mode, real=with_data)
        return recover(subject, self._source_map, self._tracer.recording_class(RecoveringTracer))
