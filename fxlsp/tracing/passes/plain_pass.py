"""Plain pass, from model to report: torch.fx's trace, its values, and all checks."""

from __future__ import annotations

import platform
from collections.abc import Callable, Iterator
from dataclasses import replace

import torch

from ...report.graph import Node, Verdict
from ...report.merging import merge_problems
from ...report.problems import Problem
from ...report.report import Environment, Report
from ...report.symbolic_sizes import SymbolicSizes
from ...wire.messages import ModeDifference
from ..model.building.builder import FakesFailedError, seed
from ..model.building.construction import comes_from_fakes
from ..model.building.fake_tensors import OnCpu
from ..model.capture.assembly import Assembly, is_complete
from ..model.capture.feeding import Feed, ModelWithInputs, node_values
from ..model.capture.tracer import ModulePathTracer, check_graph
from ..model.diagnosis.failures import mistake_problem, trace_error, trace_problem
from ..model.diagnosis.own_mistakes import is_own_mistake, layer_as_tensor
from ..model.loading.not_imported import placeholder_refused
from ..model.locations.source_map import SourceMap
from .checks.base.pass_result import PassResult
from .checks.registry import Checking
from .checks.silent.train_eval import mode_problems
from .symbolic.data_sizes import data_dependent_sizes
from .symbolic.sizes import GraphValues, deadline, seconds_for, shapes_at_other_sizes, symbolic_sizes
from .timing import Timing


def ignore_graph(graph: Report) -> None:
    """Ignore a graph: only the report with its problems is wanted."""


class PlainPass:
    """Plain pass of one model, traced as ``torch.fx.symbolic_trace`` does."""

    def __init__(
        self, subject: ModelWithInputs, tracer: ModulePathTracer, source_map: SourceMap, timing: Timing
    ) -> None:
        self._subject = subject
        self._model = subject.built.model
        self._tracer = tracer
        self._source_map = source_map
        self._timing = timing
        self.needs_data = False
        """Whether values of the graph are known only with data."""
        self._recorded: GraphValues | None = None

    def run(
        self,
        real_tensors: bool,
        in_other_mode: Callable[[], ModeDifference | None],
        on_graph: Callable[[Report], None] = ignore_graph,
    ) -> Report:
        """Trace the model, run the graph and all checks, and return the report.

        Args:
            real_tensors: whether the model was built with real tensors of every size.
            in_other_mode: returns the comparison with the graph of the other of train and eval mode; called after the
                trace.
            on_graph: called before the checks with the report without problems, if the graph is complete.

        Raises:
            FakesFailedError: tracing failed because of fake tensors.
        """
        subject, tracer = self._subject, self._tracer
        checking = Checking()
        with self._timing.stage("trace"), checking.watching(self._model, tracer):
            error = self._trace(real_tensors)
        with self._timing.stage("values"):
            values, self.needs_data = node_values(subject, tracer)
        with self._timing.stage("checks"):
            assembly = Assembly(self._model, tracer, values, self._source_map, subject.constructions)
            graph = self._graph(assembly, error)
            self._recorded = GraphValues(assembly.graph_nodes, values, graph)
            if graph.complete and not self.needs_data:
                on_graph(graph)
            difference = in_other_mode()
            entered = None if difference is None or difference.other_error else difference.entered
            failed = any(value.error is not None for value in values.values())
            traced = PassResult(
                self._model, tracer, self._source_map, subject.constructions, subject.target, error, failed, entered
            )
            differing = () if difference is None or error else mode_problems(difference, subject.target)
            problems = (*self._problems(traced, assembly, graph.nodes), *checking.problems(traced), *differing)
            return replace(graph, problems=merge_problems(problems), timing_ms=self._timing.spent)

    def symbolic_sizes(self) -> SymbolicSizes | None:
        """Return the sizes of the report as expressions of symbols, if :meth:`run` has recorded a complete graph.

        None if no dimension of the inputs may vary.
        """
        graph = self._recorded
        return None if graph is None or not graph.report.complete else symbolic_sizes(self._subject, graph)

    def shapes_at_other_sizes(self, with_batch: bool) -> list[dict[str, tuple[int, ...]]]:
        """Return the shapes of nodes by name at other sizes of the inputs, if :meth:`run` has recorded the graph.

        Args:
            with_batch: whether the batch has other sizes too.
        """
        return [] if self._recorded is None else shapes_at_other_sizes(self._subject, self._recorded, with_batch)

    def data_dependent_sizes(self, feeds: Iterator[Feed]) -> SymbolicSizes | None:
        """Return symbols for the sizes that depend on data, if :meth:`run` has recorded a complete graph.

        Args:
            feeds: inputs of the same sizes with other data.
        """
        graph = self._recorded
        if graph is None or not graph.report.complete:
            return None
        fed = (replace(self._subject, feed=feed) for feed in feeds if feed.inputs is not None)
        runs = (node_values(subject, self._tracer)[0] for subject in fed)
        return data_dependent_sizes(graph, runs, deadline(seconds_for(len(graph.nodes))))

    def _trace(self, real_tensors: bool) -> BaseException | None:
        """Trace the model, and return the error of torch.fx, if any.

        Raises:
            FakesFailedError: tracing failed because of fake tensors.
        """
        seed()
        try:
            with OnCpu():
                self._tracer.trace(self._model)
            check_graph(self._model, self._tracer.graph)
        except BaseException as error:
            # SystemExit and KeyboardInterrupt included: the user's code raised them, and they end only its trace.
            if not real_tensors and comes_from_fakes(error):
                raise FakesFailedError from error
            refused = placeholder_refused(error)
            return error if refused is None else refused.again().with_traceback(error.__traceback__)
        return None

    def _graph(self, assembly: Assembly, error: BaseException | None) -> Report:
        """Return the report without its problems."""
        nodes = assembly.nodes()
        return Report(
            target=self._subject.target,
            environment=Environment(platform.python_version(), torch.__version__),
            recipe=self._subject.feed.recipe,
            mode="train" if self._model.training else "eval",
            verdict=Verdict(error is None, None if error is None else trace_error(error, self._source_map)),
            complete=error is None and all(is_complete(node) for node in nodes),
            opaque=0,
            nodes=nodes,
            modules=assembly.modules(),
            calls=assembly.calls(),
            problems=(),
            timing_ms=self._timing.spent,
        )

    def _problems(self, traced: PassResult, assembly: Assembly, nodes: tuple[Node, ...]) -> Iterator[Problem]:
        known = self._subject.feed.problem
        if known is not None:
            yield known
        if traced.error is not None:
            path = self._tracer.module_that_raised(traced.error)
            # The trace goes where the model goes with an optional input that it is not given, and not made for.
            is_given = self._subject.is_given and not self._subject.omits_inputs
            if is_own_mistake(traced.error, self._model, is_given):
                headline = layer_as_tensor(traced.error, dict(self._model.named_modules()))
                yield mistake_problem(traced.error, self._source_map, path, traced.target, headline)
            else:
                yield trace_problem(traced.error, self._source_map, path, traced.target, assembly.place_without_frame)
        yield from assembly.failing_operations(nodes, traced.target)
