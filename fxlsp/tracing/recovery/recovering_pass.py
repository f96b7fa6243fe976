"""The recovering pass from a constructed model to a report of its own."""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from ...report.graph import Node, Verdict
from ...report.merging import once_each
from ...report.problems import Problem
from ...report.report import Environment, Report
from ..assembly import Assembly
from ..building import Built, seed
from ..checks.checking import Checking
from ..checks.traced import Traced
from ..construction import Constructions
from ..failures import operation_problem
from ..feeding import Feed
from ..frames import Places
from ..outputs import Unknown, is_known, shown
from ..torch_private import FakeTensorMode
from .autograd_functions import functions_followed
from .problems import FindingProblems
from .tracer import RecoveringTracer


@dataclass(frozen=True)
class Subject:
    """What the pass works on."""

    target: str
    built: Built
    constructions: Constructions
    feed: Feed
    mode: FakeTensorMode
    real: bool
    """Whether tensors have data."""


@dataclass(frozen=True)
class Recovered:
    """What the pass found."""

    report: Report
    """Its verdict is a placeholder: the plain pass has it."""
    findings: tuple[Problem, ...]
    """The problems among the report's that come of following the model with its values."""
    needs_data: bool
    """Whether something was met that only data could tell."""
    elements: int
    """Of all parameters of the model."""
    followed: tuple[int, ...]
    """Indices of the report's nodes that stem from an input or a parameter."""


def recover(subject: Subject, places: Places, tracer_class: type[RecoveringTracer] = RecoveringTracer) -> Recovered:
    """Follow the model on its inputs past every failure."""
    start = time.perf_counter()
    root = subject.built.model
    elements = sum(parameter.numel() for parameter in root.parameters())
    tracer = tracer_class(places, subject.mode, subject.feed.inputs or {}, subject.real)
    checking, during = Checking(), Constructions(places)
    seed()
    # Before the checks watch, so that they see the user's calls.
    with during.noted(), functions_followed(lambda: tracer.evaluating), checking.watching(root, tracer):
        tracer.trace(root)
    milliseconds = (time.perf_counter() - start) * 1000
    traced = Traced(root, tracer, places, subject.constructions, subject.target, _incomplete(tracer))
    assembly = Assembly(root, tracer, tracer.recovery.evaluator.values, places, subject.constructions)
    findings = tuple(FindingProblems(traced, during, assembly.place_without_frame).of(tracer.recovery.findings))
    nodes = assembly.nodes()
    problems = (*findings, *_failing_operations(tracer, assembly, nodes, subject.target), *checking.problems(traced))
    known = subject.feed.problem
    report = Report(
        target=subject.target,
        environment=Environment(platform.python_version(), torch.__version__),
        recipe=subject.feed.recipe,
        mode="train" if root.training else "eval",
        verdict=Verdict(False),
        complete=not tracer.opaque_nodes and all(is_complete(node) for node in nodes),
        opaque=len(tracer.opaque_nodes),
        nodes=nodes,
        modules=assembly.modules(),
        calls=assembly.calls(),
        problems=once_each(problems if known is None else (known, *problems)),
        timing_ms={"recover": milliseconds},
    )
    followed = tuple(index for index, node in enumerate(assembly.graph_nodes) if node in tracer.recovery.following)
    return Recovered(report, findings, tracer.recovery.needs_data, elements, followed)


def _incomplete(tracer: RecoveringTracer) -> BaseException | None:
    """What checks of the whole model are to know: something was not followed, so nothing can be said to be unused."""
    if tracer.opaque_nodes or isinstance(tracer.result, Unknown):
        return RuntimeError("the model could not be followed to its end")
    return None


def is_complete(node: Node) -> bool:
    """Inputs and the output are no operations: a container's have no place in the user's code."""
    return (node.location is not None or node.op in ("placeholder", "output")) and is_known(node.output)


def _failing_operations(
    tracer: RecoveringTracer, assembly: Assembly, nodes: tuple[Node, ...], target: str
) -> Iterator[Problem]:
    values: dict[Any, Any] = tracer.recovery.evaluator.values
    for fx_node, node in zip(assembly.graph_nodes, nodes, strict=True):
        value = values.get(fx_node)
        if value is not None and value.error is not None:
            yield operation_problem(value.error, node, shown(value.inputs), target)
