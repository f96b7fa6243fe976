"""Flow of one trace: the first recipe that works, plain pass beside recovering pass, merge.

The plain pass reports whether ``torch.fx`` can trace the model, and the graph. The recovering pass
(:mod:`.recovery_job`) runs on its own model, which the plain pass does not change. It produces a graph of a model that
cannot be traced, and finds where a graph behaves differently from the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace

import torch

from ...report.code_records import Trait
from ...report.codes import BAD_TRACER, DIED, OPERATION_FAILS, codes_with, severity_of
from ...report.problems import Failure, Problem
from ...report.report import Report
from ...report.symbolic_sizes import SymbolicSizes
from ...wire.messages import (
    EarlyReport,
    FailureMessage,
    FileRead,
    ModeDifference,
    RecipeRequest,
    ReportMessage,
    ShapesMessage,
    SymbolsMessage,
)
from ..isolation.child_processes.fallback_report import ENDED_EARLY
from ..isolation.child_processes.side_process import NoResultError, RecoveryRunner, SideTask
from ..model import module_tree
from ..model.building.builder import FakesFailedError, NoModelError
from ..model.capture.feeding import Feed, ModelWithInputs, prepare_feed
from ..model.capture.tracer import ModulePathTracer
from ..model.loading.loader import third_party
from ..model.targets import ModelTarget, guessed_target, targets_of
from ..passes.checks.classics.mixed_axes import OtherShapes
from ..passes.checks.silent.train_eval import MakeTracer, may_depend_on_mode, mode_differences
from ..passes.plain_pass import PlainPass
from ..passes.recovery.merge_reports import merged_report
from .corrected_report import corrected
from .data_pass import report_with_data
from .load import BuiltModel, ModelFactory, RequestLoad
from .recipe_failures import may_be_made_otherwise, problem_of, summary_of, without_recipe
from .recovery_job import REAL_ELEMENTS
from .searched_model import SearchingFactory
from .user_tracer import UserTracer

_SHARE_OF_TIME = 0.8
"""Share of the time limit after which the recovering pass is cancelled."""
_SECONDS_FOR_SYMBOLS = 5.0
"""Wall time for which a report waits for the sizes as expressions, behind the recovering pass."""
_NOT_RUN = codes_with(Trait.OF_NO_RUN)


class TraceJob:
    """Trace request, run in a process of its own."""

    def __init__(self, load: RequestLoad, send: Callable[[bytes], None]) -> None:
        """
        Args:
            load: the load of the request, which has run.
            send: sends frames that precede the report.
        """
        self._models = ModelFactory(load)
        self._searching = SearchingFactory(load, self._models)
        self._request = load.request
        self._target, *self._alternatives = targets_of(load.request)
        self._limits = load.request.limits
        self._source_map = load.source_map
        self._loader = load.loader
        self._tracer = UserTracer(load.request.tracer, self._loader, str(self._target))
        self._timing = load.timing
        self._loaded_before = load.loaded_before
        self._send = send
        self._is_graph_sent = False
        self._symbolic: SymbolicSizes | None = None
        """Sizes of the graph as expressions, for the report."""
        self._other_shapes: OtherShapes = _no_shapes
        """Returns the shapes of the report's nodes at other sizes of the inputs, as far as they are known."""

    # The result of the worker.

    def run(self, runner: RecoveryRunner) -> ReportMessage | FailureMessage:
        """Return the report or failure message; no exception of the user's code escapes.

        ``runner`` runs the recovering pass of the same request.
        """
        try:
            return self._reported(self._report(runner))
        except NoModelError as none:
            return FailureMessage(self._request.id, none.failure.to_json(), self._reads(), self._imports())

    def _reported(self, report: Report) -> ReportMessage:
        report = corrected(report, self._target, self._searching.no_inputs, self._source_map, self._other_shapes)
        report = replace(report, timing_ms={**report.timing_ms, "total": self._timing.seconds * 1000})
        if self._is_graph_sent:
            report = replace(report, nodes=(), modules=(), calls=())
        return ReportMessage(
            self._request.id,
            report.to_json(),
            self._reads(),
            self._imports(),
            follows_early=self._is_graph_sent,
            symbolic=self._symbolic,
        )

    def _reads(self) -> tuple[FileRead, ...]:
        return tuple(FileRead(path, digest) for path, digest in self._loader.read.items())

    def _imports(self) -> tuple[str, ...]:
        return tuple(third_party(self._loaded_before))

    # The flow: load, build, the plain pass beside the recovering pass, merge.

    def _report(self, runner: RecoveryRunner) -> Report:
        """Return the report by the first recipe that works.

        Raises:
            NoModelError: no recipe works. The failure is that of a recipe in the model's own file, else the last one.
        """
        report = self._report_by_guess(runner)
        if report is not None:
            return report
        failures: list[tuple[ModelTarget, NoModelError]] = []
        targets = (self._target, *self._alternatives)
        for target in targets:
            self._target = target
            try:
                return self._report_of_target(runner, is_last=target is targets[-1])
            except NoModelError as none:
                self._loader.unload()
                failures.append((target, none))
                if none.failure.code == BAD_TRACER:
                    # No other recipe can avoid this failure.
                    raise
        summary = summary_of(failures)
        if not all(may_be_made_otherwise(*each) for each in failures):
            raise summary
        return self._report_without_recipe(runner, summary)

    def _report_without_recipe(self, runner: RecoveryRunner, failure: NoModelError) -> Report:
        """Return the report of a model that no call site can make here, by a search for its arguments.

        What keeps the call site from making it stays a problem of the report.

        Raises:
            NoModelError: nothing is found, ``failure``.
        """
        self._target, self._is_graph_sent = without_recipe(self._target), False
        runner.renew()
        try:
            report = self._report_of_target(runner, is_last=True)
        except NoModelError:
            raise failure from None
        return replace(report, problems=(*report.problems, problem_of(failure.failure)))

    def _report_by_guess(self, runner: RecoveryRunner) -> Report | None:
        """Return the report by the recipe that an earlier trace found; None if the model does not run by it any more.

        The trace itself proves that it runs, so no search has to run the model before.
        """
        guessed = guessed_target(self._request)
        if guessed is None:
            return None
        stated, self._target = self._target, guessed
        try:
            report = self._report_of_target(runner, is_last=False)
        except NoModelError:
            pass
        else:
            if not any(problem.code in _NOT_RUN for problem in report.problems):
                return report
        self._target, self._is_graph_sent = stated, False
        self._loader.unload()
        runner.renew()
        return None

    def _report_of_target(self, runner: RecoveryRunner, is_last: bool) -> Report:
        try:
            return self._attempt(runner, real_tensors=False, is_last=is_last)
        except FakesFailedError:
            self._loader.unload()
            return self._attempt(runner, real_tensors=True, is_last=is_last)

    def _attempt(self, runner: RecoveryRunner, real_tensors: bool, is_last: bool) -> Report:
        self._symbolic, self._other_shapes = None, _no_shapes
        made = self._completed(real_tensors)
        make_tracer = self._make_tracer()
        other_mode = self._other_mode(made.built.model, make_tracer, runner)
        if other_mode is not None and other_mode.changes_model:
            self._loader.unload()
            made = self._models.build(self._target, real_tensors)
            make_tracer = self._make_tracer()
        feed = self._feed(made, is_last)
        # The recovering pass receives the complete recipe, so that it does not repeat the search with another result.
        runner.begin(replace(self._request, recipe=RecipeRequest.of(feed.recipe)))
        with other_mode or nullcontext():
            subject = ModelWithInputs(
                str(self._target), made.built, made.builder.constructions, feed, made.mode, real=False
            )
            plain_pass = PlainPass(subject, make_tracer(), self._source_map, self._timing)
            plain = plain_pass.run(
                real_tensors, lambda: self._difference(other_mode), lambda graph: self._send_early(graph, runner)
            )
        if (
            plain.verdict.traceable
            and plain_pass.needs_data
            and module_tree.elements(subject.built.model) <= REAL_ELEMENTS
        ):
            self._loader.unload()
            plain, self._symbolic = report_with_data(
                plain,
                self._target,
                self._models,
                self._make_tracer()(),
                self._source_map,
                self._timing,
                seconds=self._limits.seconds * _SHARE_OF_TIME,
            )
        if plain.complete and not plain_pass.needs_data:
            self._other_shapes = lambda with_batch: self._shapes(runner, plain_pass, with_batch)
        has_symbols = self._request.symbols and plain.verdict.traceable and plain.complete and not plain_pass.needs_data
        symbols = runner.side_task(lambda: _symbols_of(plain_pass), SymbolsMessage) if has_symbols else None
        with symbols or nullcontext():
            return self._merged(plain, runner, symbols)

    def _merged(self, plain: Report, runner: RecoveryRunner, symbols: SideTask[SymbolsMessage] | None) -> Report:
        """Return the report of both passes.

        Symbols are computed beside the recovering pass, and are no reason to fail.
        """
        runner.after_plain_pass(
            lambda: self._reported(self._alone(plain, NoResultError(ENDED_EARLY))), self._loader.unload
        )
        try:
            report = merged_report(plain, runner.result(self._seconds_left, self._limits.megabytes))
        except NoResultError as none:
            report = self._alone(plain, none)
        if report.nodes != plain.nodes:
            self._symbolic, self._other_shapes = None, _no_shapes
        elif symbols is not None:
            with suppress(NoResultError):
                limit = min(self._seconds_left, _SECONDS_FOR_SYMBOLS)
                self._symbolic = symbols.result(limit, self._limits.megabytes).sizes
        return report

    def _send_early(self, graph: Report, runner: RecoveryRunner) -> None:
        """Send a complete graph, of which the checks and the recovering pass change the problems alone."""
        if self._request.early and (self._request.symbols or not runner.has_result()):
            self._send(EarlyReport(self._request.id, graph.to_json(), self._reads()).encoded())
            self._is_graph_sent = True

    @property
    def _seconds_left(self) -> float:
        """Seconds after which other processes of this trace are cancelled."""
        return self._limits.seconds * _SHARE_OF_TIME - self._timing.seconds

    def _alone(self, plain: Report, why: NoResultError) -> Report:
        """Return the plain pass's report with a problem that there is no other report."""
        unknown = "whether the graph does what the model does" if plain.verdict.traceable else "what lies behind that"
        message = f"The pass that goes on where torch.fx stops {why}: {unknown} is not known"
        problem = Problem(DIED, severity_of(DIED), message, None, model=plain.target)
        return replace(plain, problems=(*_certain(plain), problem))

    # Building.

    def _completed(self, real_tensors: bool) -> BuiltModel:
        """Return the model, after a search for a missing construction or missing inputs."""
        try:
            return self._searching.build(self._target, real_tensors)
        finally:
            self._target = self._searching.target

    def _feed(self, made: BuiltModel, is_last: bool) -> Feed:
        """Return the inputs of the plain pass.

        Raises:
            NoModelError: the inputs cannot be made, and there is another recipe.
        """
        feed = prepare_feed(self._target, made.built, made.mode, self._source_map, real_tensors=False)
        if self._loader.uses_untaken_branch:
            feed = replace(feed, recipe=replace(feed.recipe, source="search"))
        if feed.problem is not None and not is_last:
            raise NoModelError(Failure(str(self._target), feed.problem.code, feed.problem.message))
        return feed

    # The plain pass.

    def _make_tracer(self) -> MakeTracer:
        """Return a factory of tracers for the model that has just been built.

        Raises:
            NoModelError: the settings name a tracer that cannot be used.
        """
        tracer = self._tracer.recording_class(ModulePathTracer)
        return lambda: tracer(self._source_map)

    def _other_mode(
        self, model: torch.nn.Module, make_tracer: MakeTracer, runner: RecoveryRunner
    ) -> SideTask[ModeDifference] | None:
        """Return the task that compares both modes, if the model reads its mode."""
        if not may_depend_on_mode(model, make_tracer):
            return None
        return runner.side_task(lambda: mode_differences(model, self._source_map, make_tracer), ModeDifference)

    def _shapes(
        self, runner: RecoveryRunner, plain_pass: PlainPass, with_batch: bool
    ) -> Sequence[Mapping[str, tuple[int, ...]]]:
        """Return the shapes of nodes at other sizes; none if the graph cannot be run with them in time."""
        limit = min(self._seconds_left, _SECONDS_FOR_SYMBOLS)
        try:
            with runner.side_task(lambda: _shapes_of(plain_pass, with_batch), ShapesMessage) as shapes:
                runs = shapes.result(limit, self._limits.megabytes).runs
        except NoResultError:
            return ()
        return [{name: tuple(shape) for name, shape in run.items()} for run in runs]

    def _difference(self, other_mode: SideTask[ModeDifference] | None) -> ModeDifference | None:
        if other_mode is None:
            return None
        try:
            return other_mode.result(self._seconds_left, self._limits.megabytes)
        except NoResultError:
            return None


def _shapes_of(plain_pass: PlainPass, with_batch: bool) -> ShapesMessage:
    return ShapesMessage(tuple(plain_pass.shapes_at_other_sizes(with_batch)))


def _no_shapes(with_batch: bool) -> Sequence[Mapping[str, tuple[int, ...]]]:
    """Return that no shapes are known at other sizes."""
    return ()


def _symbols_of(plain_pass: PlainPass) -> SymbolsMessage:
    return SymbolsMessage(plain_pass.symbolic_sizes())


def _certain(plain: Report) -> Iterator[Problem]:
    """Yield the problems of the plain pass without failing operations.

    The model itself may not run these operations.
    """
    yield from (problem for problem in plain.problems if problem.code != OPERATION_FAILS)
