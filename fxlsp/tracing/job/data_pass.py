"""Plain pass once more with data, for a graph whose shapes depend on them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import torch

from ...report.codes import OPERATION_FAILS
from ...report.report import Report
from ...report.symbolic_sizes import SymbolicSizes
from ..isolation.torch_private import tree_map
from ..model.building.builder import FakesFailedError, NoModelError, seeded
from ..model.capture.feeding import Feed, ModelWithInputs, prepare_feed
from ..model.capture.tracer import ModulePathTracer
from ..model.locations.source_map import SourceMap
from ..model.targets import ModelTarget
from ..passes.plain_pass import PlainPass
from ..passes.timing import Timing
from .load import BuiltModel, ModelFactory

_OTHER_SEEDS = (1, 2, 3)
"""Of the runs that tell which sizes depend on data."""


def report_with_data(
    plain: Report,
    target: ModelTarget,
    models: ModelFactory,
    tracer: ModulePathTracer,
    source_map: SourceMap,
    timing: Timing,
    seconds: float,
) -> tuple[Report, SymbolicSizes | None]:
    """Return the report of a graph with its values on inputs with data, and the sizes that depend on these.

    Args:
        plain: the report of the pass without data, which is returned if the model cannot be run with data.
        target: the model.
        models: builds it.
        tracer: a new tracer.
        source_map: places of the code.
        timing: to which the pass is added.
        seconds: time of the trace after which nothing may be begun that it can do without.
    """
    start = timing.seconds
    try:
        made = models.build(target, real_tensors=True)
        feed = prepare_feed(target, made.built, made.mode, source_map, real_tensors=True)
        subject = ModelWithInputs(str(target), made.built, made.builder.constructions, feed, made.mode, real=True)
        again = PlainPass(subject, tracer, source_map, timing)
        report = again.run(real_tensors=True, in_other_mode=lambda: None)
    except (NoModelError, FakesFailedError):
        return plain, None
    if not report.verdict.traceable:
        return plain, None
    failing = tuple(problem for problem in report.problems if problem.code == OPERATION_FAILS)
    problems = tuple(problem for problem in plain.problems if problem.code != OPERATION_FAILS)
    # Another run takes as long as this one.
    has_time = 2 * timing.seconds - start < seconds
    sizes = again.data_dependent_sizes(_other_feeds(feed, target, made, source_map)) if has_time else None
    return replace(report, recipe=plain.recipe, problems=(*failing, *problems)), sizes


def _other_feeds(feed: Feed, target: ModelTarget, made: BuiltModel, source_map: SourceMap) -> Iterator[Feed]:
    """Yield the same inputs with other data, the last for a recipe that draws no random numbers."""
    for number in _OTHER_SEEDS:
        with seeded(number):
            other = prepare_feed(target, made.built, made.mode, source_map, real_tensors=True)
        yield other
    if feed.inputs is not None:
        yield replace(feed, inputs={name: tree_map(_negated, value) for name, value in feed.inputs.items()})


def _negated(value: Any) -> Any:
    return -value if isinstance(value, torch.Tensor) and value.is_floating_point() else value
