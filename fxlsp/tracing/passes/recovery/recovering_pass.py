"""Recovering pass, from a constructed model to a report."""

from __future__ import annotations

import platform
import time
from dataclasses import dataclass

import torch

from ....report.code_records import Trait
from ....report.codes import codes_with
from ....report.graph import Verdict
from ....report.merging import merge_problems
from ....report.problems import Problem
from ....report.report import Environment, Report
from ...model import module_tree
from ...model.building.builder import seed
from ...model.building.construction import Constructions
from ...model.capture.assembly import Assembly, is_complete
from ...model.capture.feeding import ModelWithInputs
from ...model.capture.outputs import Unknown
from ...model.locations.source_map import SourceMap
from ..checks.base.pass_result import PassResult
from ..checks.registry import Checking
from .functions.autograd_functions import functions_followed
from .problems import FindingProblems
from .tracer import RecoveringTracer

_RAISES = codes_with(Trait.RAISES)


@dataclass(frozen=True)
class RecoveryResult:
    """Result of the recovering pass."""

    report: Report
    """Its verdict is a placeholder: the plain pass has it."""
    findings: tuple[Problem, ...]
    """Those of the report's problems that are findings of running the model with values."""
    needs_data: bool
    """Whether a decision was met that depends on data."""
    elements: int
    """Number of elements of all parameters of the model."""
    followed: tuple[int, ...]
    """Indices of the report's nodes that are computed from an input or a parameter."""


def recover(
    subject: ModelWithInputs, places: SourceMap, tracer_class: type[RecoveringTracer] = RecoveringTracer
) -> RecoveryResult:
    """Run the model on its inputs past each failure, and report all of them."""
    start = time.perf_counter()
    root = subject.built.model
    elements = module_tree.elements(root)
    tracer = tracer_class(places, subject.mode, subject.feed.inputs or {}, subject.real)
    checking, during = Checking(), Constructions(places)
    seed()
    # Before the checks watch, so that they see the user's calls.
    with during.recording(), functions_followed(lambda: tracer.evaluating), checking.watching(root, tracer):
        tracer.trace(root)
    milliseconds = (time.perf_counter() - start) * 1000
    traced = PassResult(
        root, tracer, places, subject.constructions, subject.target, _incomplete(tracer), _has_failed_operation(tracer)
    )
    assembly = Assembly(root, tracer, tracer.recovery.evaluator.values, places, subject.constructions)
    converter = FindingProblems(traced, during, assembly.place_without_frame, subject.is_given)
    findings = tuple(converter.of(tracer.recovery.findings))
    nodes = assembly.nodes()
    problems = (*findings, *assembly.failing_operations(nodes, subject.target), *checking.problems(traced))
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
        problems=merge_problems(problems if known is None else (known, *problems)),
        timing_ms={"recover": milliseconds},
    )
    followed = tuple(index for index, node in enumerate(assembly.graph_nodes) if node in tracer.recovery.following)
    return RecoveryResult(report, findings, tracer.recovery.needs_data, elements, followed)


def _has_failed_operation(tracer: RecoveringTracer) -> bool:
    """Return whether an operation of the model failed, also if the pass continued with an assumed value."""
    recovery = tracer.recovery
    failing = any(finding.code in _RAISES for finding in recovery.findings.all)
    return failing or any(value.error is not None for value in recovery.evaluator.values.values())


def _incomplete(tracer: RecoveringTracer) -> BaseException | None:
    """Return an error for the checks if a part of the model did not run.

    Nothing can then be reported as unused.
    """
    if tracer.opaque_nodes or isinstance(tracer.result, Unknown):
        return RuntimeError("the model could not be followed to its end")
    return None
