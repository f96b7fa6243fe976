"""Corrections of a merged report: what this machine lacks, what was guessed, and mistakes that all sizes show."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from typing import Any

import torch
import torch.fx

from ...report.code_records import Trait
from ...report.codes import (
    FACTORY,
    ITERATION,
    NOT_LOADED,
    NOTHING_RETURNED,
    OPERATION_FAILS,
    VARIADIC_INPUT,
    codes_with,
    severity_of,
)
from ...report.locations import Location
from ...report.problems import Problem
from ...report.report import Report
from ..model.diagnosis.altered_models import of_altered_model
from ..model.diagnosis.guess_severity import downgrade, not_of_torch_fx, unproven, weaken, with_condition
from ..model.diagnosis.guessed_branches import another_size_may_mend
from ..model.diagnosis.machine import lacks_hardware
from ..model.diagnosis.omitted_arguments import of_omitted_argument, of_passed_arguments
from ..model.diagnosis.returned_values import is_of_none
from ..model.locations.source_map import SourceMap
from ..model.targets import ModelTarget
from ..passes.checks.classics.loss_sizes import losses_of_other_sizes
from ..passes.checks.classics.mixed_axes import OtherShapes, views_that_mix

_NO_MODULE = re.compile(r"No module named '[^']+'")
_FAILING = codes_with(Trait.RAISES)
_OF_THE_MODEL = codes_with(Trait.MAY_LACK_HARDWARE)


def corrected(
    report: Report,
    target: ModelTarget,
    no_inputs: BaseException | None,
    source_map: SourceMap,
    other_shapes: OtherShapes,
) -> Report:
    """Return the report of both passes with the problems that are shown.

    Args:
        report: The merged report.
        target: What was traced, with what a search found.
        no_inputs: How the furthest trial of a search failed that found no inputs.
        source_map: The source map of the traced code.
        other_shapes: Returns the shapes of the report's nodes at other sizes of the inputs.
    """
    mistakes = (*losses_of_other_sizes(report), *views_that_mix(report, other_shapes, source_map))
    problems = (*report.problems, *mistakes)
    problems = tuple(_with_refused_sizes(each) for each in problems)
    report = replace(report, problems=tuple(map(if_hardware_lacks, problems)))
    if report.recipe.inputs is None:
        problems = tuple(not_of_torch_fx(each, no_inputs, source_map) for each in report.problems)
        if any(each.code == VARIADIC_INPUT for each in problems):
            # It ran without any, and may be given some.
            problems = tuple(downgrade(each, target) if each.severity == "error" else each for each in problems)
        report = replace(report, problems=problems)
    problems = tuple(of_omitted_argument(each, target, source_map.expressions) for each in report.problems)
    problems = tuple(of_passed_arguments(each, report.recipe, source_map.expressions) for each in problems)
    problems = tuple(of_altered_model(each, target, report.recipe, source_map.expressions) for each in problems)
    report = replace(report, problems=problems)
    if report.recipe.source != "search":
        return replace(report, problems=_once_for_each_cause(report.problems))
    doubted = unproven(report, target) if target.fails else report.problems
    open_sizes = [each for each in report.problems if another_size_may_mend(each, report, source_map.expressions)]
    doubted = (*doubted, *(each for each in open_sizes if each.code == OPERATION_FAILS))
    problems = tuple(downgrade(problem, target) if problem in doubted else problem for problem in report.problems)
    problems = tuple(weaken(problem, target, source_map) for problem in problems)
    problems = _once_for_each_cause(with_condition(problems, target.only))
    return replace(report, problems=problems, recipe=replace(report.recipe, sizes_note=target.sizes_note))


def _with_refused_sizes(problem: Problem) -> Problem:
    """Return the problem of a traced size with the forms in which torch refuses it, too."""
    return replace(problem, refused_sizes=_refused_sizes()) if problem.code in (FACTORY, ITERATION) else problem


@cache
def _refused_sizes() -> tuple[str, ...]:
    """Return in which forms the running torch refuses traced sizes, by calls of two functions that take sizes."""
    graph = torch.fx.Graph()
    size = torch.fx.Proxy(graph.placeholder("size"), torch.fx.proxy.GraphAppendingTracer(graph))
    return tuple(form for form, sizes in (("tuple", (size, 4)), ("whole", size)) if _refuses(sizes))


def _refuses(sizes: Any) -> bool:
    try:
        torch.zeros(sizes)
        torch.ones(1, 4).expand(sizes)
    except (TypeError, RuntimeError):
        return True
    return False


def _once_for_each_cause(problems: tuple[Problem, ...]) -> tuple[Problem, ...]:
    """Return problems without that of a ``forward`` that returns nothing, where an error at its None names it.

    The error also names what that ``forward`` computes last.
    """
    lost = {each.location: each for each in problems if each.code == NOTHING_RETURNED and each.location is not None}
    found: list[Problem] = []
    named: set[Location] = set()
    for problem in problems:
        is_error = problem.severity == "error" and problem.code in _FAILING and is_of_none(problem.message)
        places = [each.location for each in problem.related] if is_error else []
        causes = [cause for place, cause in lost.items() if any(_is_same(place, other) for other in places)]
        named.update(each.location for each in causes if each.location is not None)
        found.append(replace(problem, related=(*problem.related, *(part for each in causes for part in each.related))))
    return tuple(each for each in found if each.code != NOTHING_RETURNED or each.location not in named)


def _is_same(one: Location, other: Location) -> bool:
    """Return whether two locations are one place; only one of them may know its function."""
    return (one.file, one.line, one.column) == (other.file, other.line, other.column)


def if_hardware_lacks(problem: Problem) -> Problem:
    """Return a failure of the model as a note if this machine is the reason, else the problem unchanged.

    A package that is missing is a failure to load it.
    """
    if problem.code not in _OF_THE_MODEL:
        return problem
    headline, *_ = problem.message.splitlines() or [""]
    package = _NO_MODULE.search(headline)
    if package is not None and "ModuleNotFoundError" in headline:
        message = f"cannot load what this uses: ModuleNotFoundError: {package[0]}"
        return replace(problem, code=NOT_LOADED, severity=severity_of(NOT_LOADED), message=message, fitting=None)
    if not lacks_hardware(problem.message):
        return problem
    message = f"This machine lacks what this needs, so what lies behind it is not known: {problem.message}"
    return replace(problem, severity="info", message=message)
