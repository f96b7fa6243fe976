"""One trace from its request to its report: load, construct, and two passes side by side.

The plain pass says whether ``torch.fx`` can trace the model, and what graph it makes. The recovering pass runs in a
second process, on a model of its own that the first does not change. It gives the view of a model that cannot be
traced, and finds where a graph that was made does something else than the model.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace

import torch

from ..report.codes import BAD_TRACER, DIED, OPERATION_FAILS, severity_of
from ..report.graph import Node, Verdict
from ..report.merging import once_each
from ..report.problems import Failure, Problem
from ..report.report import Environment, Report
from ..report.sizes import ANY_SIZES, Sizes
from ..report.tracers import TORCH_FX, TracerChoice
from ..report.wire import Message
from .assembly import Assembly
from .building import Builder, Built, FakesFailedError, Loaded, NoModelError, Target, seed, unwrapped
from .checks.checking import Checking
from .checks.mode import MakeTracer, ModeDifference, may_depend_on_mode, mode_differences
from .checks.traced import Traced
from .chosen_tracer import ChosenTracer
from .construction import comes_from_fakes
from .failures import operation_problem, trace_error, trace_problem
from .fakes import OnCpu, new_fake_mode
from .feeding import Feed, prepared, values_of
from .first_load import FirstLoad
from .guessed import told_as_guessed
from .loading import third_party
from .outputs import shown
from .provisional import ENDED_EARLY
from .recovery.outcome import better, both, recovered_message
from .recovery.passing import Recovered, Subject, is_complete, recover
from .recovery.tracer import RecoveringTracer
from .search.api import RecipeSearch
from .search.runner import RunConditions
from .second import Afterwards, NoResultError, Second
from .sibling import Sibling
from .targets import guess_of, targets_of
from .torch_private import FakeTensorMode
from .tracer import ModulePathTracer, check_graph
from .values import NodeValue

_SHARE_OF_TIME = 0.8
"""Of the time limit, after which the recovering pass is given up."""
_REAL_ELEMENTS = 2**28
"""A model is built with data for the recovering pass if it has no more parameters than this (1 GiB of float32)."""


class Job:
    """A trace request, carried out in a process of its own."""

    def __init__(self, first: FirstLoad) -> None:
        """``first`` has run."""
        self._first: FirstLoad | None = first
        self._request = first.request
        self._target, *self._alternatives = targets_of(first.request)
        self._guess = guess_of(first.request)
        self._limits = first.request["limits"]
        self._places = first.places
        self._loader = first.loader
        sizes = first.request.get("sizes")
        self._sizes = ANY_SIZES if sizes is None else Sizes.from_json(sizes)
        choice = first.request.get("tracer")
        self._tracer = ChosenTracer(
            TORCH_FX if choice is None else TracerChoice.from_json(choice), self._loader, str(self._target)
        )
        self._timing = first.timing
        self._loaded_before = first.loaded_before

    def run(self, second: Second) -> Message:
        """The ``report`` or ``failure`` message; no exception of the user's code escapes.

        ``second`` carries out the second pass of the same request.
        """
        try:
            return self._reported(self._report(second))
        except NoModelError as none:
            return self._answer({"type": "failure", "failure": none.failure.to_json()})

    def _reported(self, report: Report) -> Message:
        report = replace(report, timing_ms={**report.timing_ms, "total": self._timing.seconds * 1000})
        if report.recipe.source == "search" and not self._target.fails:
            told = (told_as_guessed(problem, self._target) for problem in report.problems)
            report = replace(report, problems=tuple(told))
        return self._answer({"type": "report", "report": report.to_json()})

    def _answer(self, message: Message) -> Message:
        message["reads"] = [{"path": path, "digest": digest} for path, digest in self._loader.read.items()]
        message["imports"] = third_party(self._loaded_before)
        return message

    def second_pass(self) -> Message:
        """What the recovering pass found, for the process that makes the report.

        Raises:
            NoModelError: there is no model; the first process tells why.
        """
        first = self._recovered()
        if not first.needs_data or first.elements > _REAL_ELEMENTS:
            return recovered_message(first)
        # Only data can tell: once more, with them.
        self._loader.forget()
        return recovered_message(better(first, self._recovered_once(built_really=True, with_data=True)))

    def _report(self, second: Second) -> Report:
        """By the first recipe that works.

        Raises:
            NoModelError: none does; of a recipe in the model's own file, else for want of any other.
        """
        failures: list[tuple[Target, NoModelError]] = []
        targets = (self._target, *self._alternatives)
        for target in targets:
            self._target = target
            try:
                return self._report_of_target(second, is_last=target is targets[-1])
            except NoModelError as none:
                self._loader.forget()
                failures.append((target, none))
                if none.failure.code == BAD_TRACER:
                    # No other recipe mends that.
                    raise
        raise _told_of_all(failures)

    def _report_of_target(self, second: Second, is_last: bool) -> Report:
        try:
            return self._attempt(second, really=False, is_last=is_last)
        except FakesFailedError:
            self._loader.forget()
            return self._attempt(second, really=True, is_last=is_last)

    def _attempt(self, second: Second, really: bool, is_last: bool) -> Report:
        fake_mode, builder, built = self._completed(really)
        make_tracer = self._make_tracer()
        known: ModeDifference | None = None
        if isinstance(second, Afterwards) and may_depend_on_mode(built.model, make_tracer):
            # Tracing changes the model: the first pass gets another one.
            known = self._difference_here(built.model, make_tracer)
            self._loader.forget()
            fake_mode, builder, built = self._build(really)
            make_tracer = self._make_tracer()
        feed = prepared(self._target, built, fake_mode, self._places, really=False)
        if self._loader.has_assumed:
            feed = replace(feed, recipe=replace(feed.recipe, source="search"))
        if feed.problem is not None and not is_last:
            raise NoModelError(Failure(str(self._target), feed.problem.code, feed.problem.message))
        # What was found out on the way is not to be found out twice, perhaps differently.
        second.begin({**self._request, "recipe": feed.recipe.to_json()})
        with self._in_other_mode(built.model, make_tracer, second) as other_mode:
            difference = (lambda: known) if other_mode is None else (lambda: self._difference(other_mode))
            plain = self._plain(builder, built, feed, fake_mode, make_tracer(), really, difference)
        if isinstance(second, Afterwards):
            second.foresee(self._reported(self._alone(plain, NoResultError(ENDED_EARLY))))
            self._loader.forget()
        try:
            return both(plain, self._result(second))
        except NoResultError as none:
            return self._alone(plain, none)

    def _completed(self, really: bool) -> tuple[FakeTensorMode, Builder, Built]:
        """The model, with what a search finds where nothing says how to make or feed it.

        A search leaves nothing behind but two texts: all that was loaded and made for it is made anew.
        """
        fake_mode, builder, loaded = self._load(really)
        lacking = RecipeSearch(
            self._target, loaded, RunConditions(fake_mode, self._places, really, self._sizes), self._guess
        )
        with self._timing.stage("search"):
            found = lacking.making()
        if found is None:
            try:
                with self._timing.stage("construct"):
                    built = builder.build(loaded)
            except NoModelError as refused:
                with self._timing.stage("search"):
                    found = lacking.instead(refused)
                if found is None:
                    raise
            else:
                with self._timing.stage("search"):
                    found = lacking.feed(built)
                if found is None:
                    return fake_mode, builder, built
        self._target = found
        self._loader.forget()
        return self._build(really)

    def _make_tracer(self) -> MakeTracer:
        """Makes tracers for the model that has just been built.

        Raises:
            NoModelError: the settings name a tracer that is of no use.
        """
        tracer = self._tracer.recorded_by(ModulePathTracer)
        return lambda: tracer(self._places)

    @contextmanager
    def _in_other_mode(
        self, model: torch.nn.Module, make_tracer: MakeTracer, second: Second
    ) -> Iterator[Sibling | None]:
        """A process that traces the model in both modes, if anything in it asks for its mode and there can be one."""
        if isinstance(second, Afterwards) or not may_depend_on_mode(model, make_tracer):
            yield None
            return
        with Sibling(
            lambda: {"type": "mode", **mode_differences(model, self._places, make_tracer).to_json()}
        ) as sibling:
            yield sibling

    def _difference_here(self, model: torch.nn.Module, make_tracer: MakeTracer) -> ModeDifference | None:
        with suppress(Exception):
            return mode_differences(model, self._places, make_tracer)
        return None

    def _alone(self, plain: Report, why: NoResultError) -> Report:
        """What torch.fx's own pass tells alone, with the problem that only it has anything to tell."""
        unknown = "whether the graph does what the model does" if plain.verdict.traceable else "what lies behind that"
        message = f"The pass that goes on where torch.fx stops {why}: {unknown} is not known"
        problem = Problem(DIED, severity_of(DIED), message, None, model=plain.target)
        return replace(plain, problems=(*_certain(plain), problem))

    def _result(self, sibling: Sibling | Second) -> Message:
        seconds = self._limits["seconds"] * _SHARE_OF_TIME - self._timing.seconds
        return sibling.result(seconds, self._limits["megabytes"])

    def _load(self, really: bool) -> tuple[FakeTensorMode, Builder, Loaded]:
        first, self._first = self._first, None
        if first is not None and not really and first.is_of(self._target):
            return first.fake_mode, first.builder, first.loaded()
        self._loader.forget()
        fake_mode = new_fake_mode()
        builder = Builder(self._target, self._loader, self._places, fake_mode, really)
        with self._timing.stage("load"):
            return fake_mode, builder, builder.load()

    def _build(self, really: bool) -> tuple[FakeTensorMode, Builder, Built]:
        fake_mode, builder, loaded = self._load(really)
        with self._timing.stage("construct"):
            return fake_mode, builder, builder.build(loaded)

    def _recovered(self) -> Recovered:
        """The recovering pass on a model that was made as the first pass's is."""
        try:
            return self._recovered_once(built_really=False, with_data=False)
        except FakesFailedError:
            self._loader.forget()
            return self._recovered_once(built_really=True, with_data=False)

    def _recovered_once(self, built_really: bool, with_data: bool) -> Recovered:
        fake_mode, builder, built = self._build(built_really)
        # The view is of the model itself; what torch.fx does with a wrapper is the verdict.
        built = unwrapped(built)
        feed = prepared(self._target, built, fake_mode, self._places, with_data)
        subject = Subject(str(self._target), built, builder.constructions, feed, fake_mode, real=with_data)
        return recover(subject, self._places, self._tracer.recorded_by(RecoveringTracer))

    def _plain(
        self,
        builder: Builder,
        built: Built,
        feed: Feed,
        fake_mode: FakeTensorMode,
        tracer: ModulePathTracer,
        really: bool,
        in_other_mode: Callable[[], ModeDifference | None],
    ) -> Report:
        checking = Checking()
        with self._timing.stage("trace"), checking.watching(built.model, tracer):
            error = _trace(tracer, built.model, really)
        with self._timing.stage("values"):
            values = values_of(built.model, tracer, fake_mode, feed)
        with self._timing.stage("checks"):
            assembly = Assembly(built.model, tracer, values, self._places, builder.constructions)
            difference = in_other_mode()
            entered = None if difference is None or difference.other_error else difference.entered
            model = str(self._target)
            traced = Traced(built.model, tracer, self._places, builder.constructions, model, error, entered)
            found = (*checking.problems(traced), *(() if difference is None or error else difference.problems(model)))
            return self._assembled(built, traced, feed, values, assembly, found)

    def _difference(self, other_mode: Sibling) -> ModeDifference | None:
        try:
            return ModeDifference.from_json(self._result(other_mode))
        except NoResultError:
            return None

    def _assembled(
        self,
        built: Built,
        traced: Traced,
        feed: Feed,
        values: Mapping[torch.fx.Node, NodeValue],
        assembly: Assembly,
        found: tuple[Problem, ...],
    ) -> Report:
        nodes, error = assembly.nodes(), traced.error
        problems = (*self._problems(assembly, traced, feed, values, nodes), *found)
        return Report(
            target=str(self._target),
            environment=Environment(platform.python_version(), torch.__version__),
            recipe=feed.recipe,
            mode="train" if built.model.training else "eval",
            verdict=Verdict(error is None, None if error is None else trace_error(error, self._places)),
            complete=error is None and all(is_complete(node) for node in nodes),
            opaque=0,
            nodes=nodes,
            modules=assembly.modules(),
            calls=assembly.calls(),
            problems=once_each(problems),
            timing_ms=self._timing.spent,
        )

    def _problems(
        self,
        assembly: Assembly,
        traced: Traced,
        feed: Feed,
        values: Mapping[torch.fx.Node, NodeValue],
        nodes: tuple[Node, ...],
    ) -> Iterator[Problem]:
        model = str(self._target)
        if feed.problem is not None:
            yield feed.problem
        if traced.error is not None:
            path = traced.tracer.module_that_raised(traced.error)
            yield trace_problem(traced.error, self._places, path, model, assembly.place_without_frame)
        for fx_node, node in zip(assembly.graph_nodes, nodes, strict=True):
            value = values.get(fx_node)
            if value is not None and value.error is not None:
                yield operation_problem(value.error, node, shown(value.inputs), model)


def _told_of_all(failures: Sequence[tuple[Target, NoModelError]]) -> NoModelError:
    """What is told where no recipe works: what is wrong in the model's own file, and at a call site beside it."""
    own = next((none for target, none in failures if target.names_in is None), failures[-1][1])
    for target, none in failures:
        if target.names_in is not None and none is not own and own.failure.needs is not None:
            lacks = f"What {os.path.basename(target.names_in)} makes it with does not help: {none.failure.message}"
            return NoModelError(replace(own.failure, message=f"{own.failure.message}\n{lacks}"))
    return own


def _certain(plain: Report) -> Iterator[Problem]:
    """The problems of the plain pass, but for operations that fail: the model itself may go another way."""
    yield from (problem for problem in plain.problems if problem.code != OPERATION_FAILS)


def _trace(tracer: ModulePathTracer, model: torch.nn.Module, really: bool) -> BaseException | None:
    """Trace; torch.fx's error is a result, not a failure.

    Raises:
        FakesFailedError: it failed because of fake tensors.
    """
    seed()
    try:
        with OnCpu():
            tracer.trace(model)
        check_graph(model, tracer.graph)
    except BaseException as error:
        # SystemExit and KeyboardInterrupt too: the user's code raised them, and they end its trace, not this process.
        if not really and comes_from_fakes(error):
            raise FakesFailedError from error
        return error
    return None
