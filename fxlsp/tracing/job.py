"""One trace from its request to its report: load, construct, plain pass, values, assembly."""

from __future__ import annotations

import os
import platform
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import torch

from ..report.graph import Node, Verdict
from ..report.merging import once_each
from ..report.problems import Problem
from ..report.report import Environment, Report
from ..report.wire import Message
from .assembly import Assembly
from .building import Builder, Built, FakesFailedError, NoModelError, Target, seed
from .construction import comes_from_fakes
from .expressions import Expressions
from .failures import operation_problem, trace_error, trace_problem
from .fakes import OnCpu, new_fake_mode
from .feeding import Fed, feed
from .frames import Places
from .loading import Loader, third_party
from .outputs import is_known, shown
from .sources import Sources
from .tracer import ModulePathTracer


class _Timing:
    """Milliseconds spent in each stage."""

    def __init__(self, say_stage: Callable[[str], None]) -> None:
        self.spent: dict[str, float] = {}
        self._say_stage = say_stage

    @contextmanager
    def stage(self, name: str) -> Iterator[None]:
        self._say_stage(name)
        start = time.perf_counter()
        try:
            yield
        finally:
            self.spent[name] = self.spent.get(name, 0.0) + (time.perf_counter() - start) * 1000


class Job:
    """A trace request, carried out in a process of its own."""

    def __init__(self, request: Message, texts: Mapping[str, str], say_stage: Callable[[str], None]) -> None:
        """``request`` is a ``trace`` message, ``texts`` the unsaved buffers it names, by real path."""
        self._target = _target_of(request)
        sources = Sources(texts)
        expressions = Expressions(sources)
        self._places = Places(sources, expressions)
        self._loader = Loader(sources, expressions, request.get("roots", ()))
        self._timing = _Timing(say_stage)

    def run(self) -> Message:
        """The ``report`` or ``failure`` message; no exception of the user's code escapes."""
        start = time.perf_counter()
        loaded_before = dict(sys.modules)
        message: Message
        try:
            report = self._report()
        except NoModelError as none:
            message = {"type": "failure", "failure": none.failure.to_json()}
        else:
            self._timing.spent["total"] = (time.perf_counter() - start) * 1000
            message = {"type": "report", "report": report.to_json()}
        message["reads"] = [{"path": path, "digest": digest} for path, digest in self._loader.read.items()]
        message["imports"] = third_party(loaded_before)
        return message

    def _report(self) -> Report:
        try:
            return self._attempt(really=False)
        except FakesFailedError:
            self._loader.forget()
            return self._attempt(really=True)

    def _attempt(self, really: bool) -> Report:
        fake_mode = new_fake_mode()
        builder = Builder(self._target, self._loader, self._places, fake_mode, really)
        with self._timing.stage("load"):
            module = builder.load()
        with self._timing.stage("construct"):
            built = builder.build(module)
        tracer = ModulePathTracer(self._places)
        with self._timing.stage("trace"):
            error = _trace(tracer, built.model, really)
        with self._timing.stage("values"):
            fed = feed(self._target, built, tracer, fake_mode, self._places)
        with self._timing.stage("checks"):
            assembly = Assembly(built.model, tracer, fed.values, self._places, builder.constructions)
            return self._assembled(built, tracer, error, fed, assembly)

    def _assembled(
        self, built: Built, tracer: ModulePathTracer, error: BaseException | None, fed: Fed, assembly: Assembly
    ) -> Report:
        nodes = assembly.nodes()
        return Report(
            target=str(self._target),
            environment=Environment(platform.python_version(), torch.__version__),
            recipe=fed.recipe,
            mode="train" if built.model.training else "eval",
            verdict=Verdict(error is None, None if error is None else trace_error(error, self._places)),
            complete=error is None and all(node.location is not None and is_known(node.output) for node in nodes),
            opaque=0,
            nodes=nodes,
            modules=assembly.modules(),
            calls=assembly.calls(),
            problems=once_each(self._problems(assembly, tracer, error, fed, nodes)),
            timing_ms=self._timing.spent,
        )

    def _problems(
        self,
        assembly: Assembly,
        tracer: ModulePathTracer,
        error: BaseException | None,
        fed: Fed,
        nodes: tuple[Node, ...],
    ) -> Iterator[Problem]:
        model = str(self._target)
        if fed.problem is not None:
            yield fed.problem
        if error is not None:
            path = tracer.module_that_raised(error)
            yield trace_problem(error, self._places, path, model, assembly.place_without_frame)
        for fx_node, node in zip(tracer.graph.nodes, nodes, strict=True):
            value = fed.values.get(fx_node)
            if value is not None and value.error is not None:
                yield operation_problem(value.error, node, shown(value.inputs), model)


def _target_of(request: Message) -> Target:
    target, recipe = request["target"], request["recipe"]
    file = target.get("file")
    return Target(
        file=None if file is None else os.path.realpath(file),
        module=target.get("module"),
        name=target["name"],
        init=recipe.get("init") or None,
        inputs=recipe.get("inputs"),
        source=recipe.get("source"),
    )


def _trace(tracer: ModulePathTracer, model: torch.nn.Module, really: bool) -> BaseException | None:
    """Trace; torch.fx's error is a result, not a failure.

    Raises:
        FakesFailedError: it failed because of fake tensors.
    """
    seed()
    try:
        with OnCpu():
            tracer.trace(model)
    except BaseException as error:
        # SystemExit and KeyboardInterrupt too: the user's code raised them, and they end its trace, not this process.
        if not really and comes_from_fakes(error):
            raise FakesFailedError from error
        return error
    return None
