"""Request for the verdict of another front end: load the files, build the model with data, ask torch."""

from __future__ import annotations

from ...report.codes import NOT_FED
from ...report.frontends import OtherFrontend
from ...report.problems import Failure
from ...wire.messages import FailureMessage, FrontendMessage
from ..frontends.compile import compile_verdict
from ..frontends.export import export_verdict
from ..frontends.model_call import ModelCall
from ..model.building.builder import FakesFailedError, NoModelError, seed, unwrap
from ..model.building.construction import Constructions, construct
from ..model.building.evaluation import evaluate_arguments
from ..model.diagnosis.failures import message_of
from ..model.targets import targets_of
from .load import ModelFactory, RequestLoad


class FrontendJob:
    """Request for one verdict, with a complete recipe."""

    def __init__(self, load: RequestLoad, frontend: OtherFrontend) -> None:
        """
        Args:
            load: the load of the request, which has run.
            frontend: the front end.
        """
        self._models = ModelFactory(load)
        self._request = load.request
        self._target = next(targets_of(load.request))
        self._frontend = frontend
        self._source_map = load.source_map
        self._timing = load.timing

    def run(self) -> FrontendMessage | FailureMessage:
        """Return the verdict, or why the model cannot be built and fed with data."""
        try:
            return self._message()
        except NoModelError as none:
            return FailureMessage(self._request.id, none.failure.to_json())

    def _message(self) -> FrontendMessage:
        if self._target.inputs is None:
            raise self._not_fed("no inputs are known")
        call = self._call()
        if self._frontend == "compile":
            return FrontendMessage(self._request.id, compile_verdict(call, self._source_map))
        answer = export_verdict(call, self._source_map, self._request.fixed_sizes)
        return FrontendMessage(self._request.id, answer.verdict, answer.needs_fixed_sizes)

    def _call(self) -> ModelCall:
        """Build the model and its inputs with data.

        Raises:
            NoModelError: they cannot be built.
        """
        try:
            made = self._models.build(self._target, real_tensors=True)
        except FakesFailedError as error:
            raise self._not_fed("it cannot be built with data") from error
        built, text = unwrap(made.built), self._target.inputs or ""
        # The last stage that begins: a crash from here on is one of the front end.
        with self._timing.stage(self._frontend):
            seed()
            try:
                arguments = construct(
                    lambda: evaluate_arguments(text, built.names), Constructions(self._source_map), made.mode, True
                )
            except BaseException as error:
                raise self._not_fed(f"cannot feed it with ({text}): {message_of(error)}") from error
        return ModelCall(built.model, arguments.args, arguments.kwargs)

    def _not_fed(self, reason: str) -> NoModelError:
        return NoModelError(Failure(str(self._target), NOT_FED, reason))
