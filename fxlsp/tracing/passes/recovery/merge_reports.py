"""One report of two passes: torch.fx's own verdict, and the whole model's graph."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from ....report.code_records import Trait
from ....report.codes import (
    CODE_FAILS,
    FOREIGN_FUNCTION,
    GRAPH_FAILS,
    NOT_ENTERED,
    OPTIONAL_INPUT,
    RESULT_UNUSED,
    SWALLOWED,
    TEXT_OF_PROXY,
    TYPE_TEST,
    UNTRACEABLE,
    codes_with,
    severity_of,
)
from ....report.graph import Node
from ....report.locations import Location
from ....report.merging import merge_problems
from ....report.problems import Problem
from ....report.report import Report
from ....wire.messages import RecoveredMessage
from ...model.locations.code_origin import is_installed
from .graph_diff import first_difference
from .recovering_pass import RecoveryResult

_UNTRACEABLE = "torch.fx cannot trace this: "
_RAISES = codes_with(Trait.RAISES)
_OF_A_GRAPH = codes_with(Trait.IN_MADE_GRAPH)
_EXPLAINS = codes_with(Trait.EXPLAINS)
_DIVERGENCES = codes_with(Trait.DIVERGES)
_VALUE_REQUESTS = codes_with(Trait.ASKS_FOR_VALUE)
_REFUSALS = codes_with(Trait.REFUSES)
_FAILURES = _REFUSALS | codes_with(Trait.LEADS_TO_REFUSAL)
_PROXY_IN_TEXT = re.compile(r"'[^']*Proxy\(\w+\)[^']*'")


def recovered_message(recovered: RecoveryResult) -> RecoveredMessage:
    """Return the message that sends the result of the pass to another process."""
    return RecoveredMessage(recovered.report, recovered.findings, recovered.followed)


def fails(result: RecoveryResult) -> bool:
    """Return whether the model itself fails."""
    return any(problem.code in _RAISES for problem in result.findings)


def better_result(without_data: RecoveryResult, with_data: Sequence[RecoveryResult]) -> RecoveryResult:
    """Return the result of the pass with data, unless only with data the model fails, and not with any.

    The data are an example: what fails with several at one place fails for its shapes.
    """
    if fails(without_data) or not fails(with_data[0]):
        return with_data[0]
    places = [
        {(problem.code, problem.location) for problem in each.findings if problem.code in _RAISES} for each in with_data
    ]
    is_certain = len(places) > 1 and set.intersection(*places)
    return with_data[0] if is_certain else without_data


def merged_report(plain: Report, second: RecoveredMessage) -> Report:
    """Return the report of both passes.

    Where the graph that torch.fx made cannot run but the model can, the nodes are those of the model.
    """
    recovered = second.report
    timing = {**plain.timing_ms, **recovered.timing_ms}
    if plain.verdict.traceable:
        run = [recovered.nodes[index] for index in second.followed]
        view = recovered if recovered.complete and not plain.complete else plain
        problems = tuple(_graph_problems(plain, recovered, second.findings, run))
        return replace(view, verdict=plain.verdict, problems=merge_problems(problems), timing_ms=timing)
    problems = tuple(_first_refusals(_refusal_problems(plain, recovered)))
    return replace(recovered, verdict=plain.verdict, problems=merge_problems(problems), timing_ms=timing)


def _graph_problems(
    plain: Report, recovered: Report, findings: Iterable[Problem], run: Iterable[Node]
) -> Iterator[Problem]:
    """Yield the problems of a graph that was made.

    ``run`` are the model's operations on values computed from its inputs.
    """
    comparable = plain.complete and recovered.complete
    difference = first_difference(plain.nodes, run, plain.target) if comparable else None
    confirmed = _confirmed(plain, recovered, fits=comparable and difference is None)
    problems = [*confirmed, *(problem for problem in findings if problem.code in _OF_A_GRAPH)]
    yield from problems
    if difference is not None and not any(_explains_difference(problem, difference) for problem in problems):
        yield difference


def _explains_difference(problem: Problem, difference: Problem) -> bool:
    """Return whether a problem is the reason why a graph does something else than the model."""
    is_unused = problem.code == RESULT_UNUSED and problem.location == difference.location
    return is_unused or problem.code in _EXPLAINS


def _confirmed(plain: Report, recovered: Report, fits: bool) -> Iterator[Problem]:
    """Yield the plain pass's problems, corrected by what the model itself does.

    Where an operation fails in the graph only, the model is not the cause. ``fits`` says that the graph does what the
    model does on its example inputs.
    """
    failing = {problem.location for problem in recovered.problems if problem.code in _RAISES}
    reported = {problem.location for problem in recovered.problems if problem.code == GRAPH_FAILS}
    # A graph that takes another path than the model fails anywhere on it: that is reported once, where the paths
    # diverge.
    is_reported = any(problem.code in _DIVERGENCES for problem in (*plain.problems, *recovered.problems))
    for problem in plain.problems:
        if problem.code == OPTIONAL_INPUT and fits:
            # The graph is right for these inputs.
            yield replace(problem, severity="hint")
        elif problem.code not in _RAISES or problem.location in failing or not recovered.complete:
            # If the model itself fails elsewhere, what its graph alone would do here is unknown.
            if problem.code not in _RAISES or problem.location in failing or not failing:
                yield problem
        elif problem.location not in reported and not is_reported:
            is_reported = True
            text = f"What torch.fx records here fails when the graph runs, unlike the model itself: {problem.message}"
            yield replace(problem, code=GRAPH_FAILS, severity=severity_of(GRAPH_FAILS), message=text)


def _refusal_problems(plain: Report, recovered: Report) -> Iterator[Problem]:
    """Yield the recovering pass's problems, with torch's message for the plain pass's.

    The problem that ended the plain pass is reported once.
    """
    refusals = [_refused(problem, recovered) for problem in plain.problems if problem.code in _REFUSALS]
    for refusal in refusals:
        if not any(_explains(problem, refusal) for problem in recovered.problems):
            yield refusal
    of_packages: dict[object, Problem] = {}
    for problem in recovered.problems:
        if problem.code in (TYPE_TEST, TEXT_OF_PROXY):
            yield _with_consequence(problem, refusals)
            continue
        same = [refusal for refusal in refusals if refusal.location == problem.location]
        if problem.code.startswith("FX1") and _is_in_package(problem):
            # What a package refuses at one call it refuses at another that goes the same way through it.
            way = (problem.code, problem.related)
            same = same or [each for each in (of_packages.get(way),) if each is not None]
            of_packages.update({way: same[0]} if same else {})
        if same and problem.code == SWALLOWED:
            yield same[0]
        elif same and problem.code.startswith("FX1"):
            # Which conversions a function that is not torch's requests of the value depends on its implementation.
            is_value_request = same[0].code == FOREIGN_FUNCTION and problem.code in _VALUE_REQUESTS
            code = (
                same[0].code
                if is_value_request or _is_in_package(problem) or problem.code == UNTRACEABLE
                else problem.code
            )
            yield replace(problem, code=code, severity=severity_of(code), message=_with_message_of(same[0], problem))
        else:
            yield problem


def _with_consequence(problem: Problem, refusals: Iterable[Problem]) -> Problem:
    """Return a problem of another path or text with the message of the refusal that it leads to, if it does."""
    message = next((refusal.message for refusal in refusals if _explains(problem, refusal)), None)
    return problem if message is None else replace(problem, message=f"{message}\n{problem.message}")


def _first_refusals(problems: Iterable[Problem]) -> Iterator[Problem]:
    """Yield the problems without what torch.fx would refuse next inside an expression that it refuses.

    What a function of torch asks of a proxy after another question is no second thing to mend.
    """
    seen: set[tuple[Location | None, str | None]] = set()
    for problem in problems:
        # Before Python 3.11 a location is a line, on which several expressions may be.
        if problem.code.startswith("FX1") and problem.location is not None and sys.version_info >= (3, 11):
            place = (problem.location, problem.module_path)
            if place in seen:
                continue
            seen.add(place)
        yield problem


def _refused(problem: Problem, recovered: Report) -> Problem:
    """Return the problem that ended the plain pass, as one of torch.fx if the model itself runs past it."""
    if problem.code != CODE_FAILS or not recovered.complete:
        return problem
    message = f"{_UNTRACEABLE}{problem.message}"
    return replace(problem, code=UNTRACEABLE, severity=severity_of(UNTRACEABLE), message=message)


def _is_in_package(problem: Problem) -> bool:
    """Return whether the problem occurred inside an installed package."""
    return any(is_installed(place.location.file) for place in problem.related)


def _with_message_of(refusal: Problem, problem: Problem) -> str:
    """Return torch.fx's message, with what the recovering pass adds to its own.

    The refusal may be of another call that goes the same way through a package, from another module.
    """
    known = refusal.message.split("\n")
    known[0] = known[0].replace(_where(refusal), _where(problem), 1)
    # Equal problems of several modules are merged, which ends their message with a full stop.
    said = {line.removesuffix(".") for line in known}
    return "\n".join(
        (*known, *(line for line in problem.message.split("\n")[1:] if line.removesuffix(".") not in said))
    )


def _where(problem: Problem) -> str:
    return f"torch.fx cannot trace this in module {problem.module_path}: " if problem.module_path else _UNTRACEABLE


def _explains(problem: Problem, refusal: Problem) -> bool:
    """Return whether ``problem`` reports what ended the plain pass.

    Or what led to it inside the same expression.
    """
    if problem.code not in _FAILURES:
        return False
    if problem.code == NOT_ENTERED:
        # Whatever error followed.
        return True
    if problem.code == TEXT_OF_PROXY and _PROXY_IN_TEXT.search(refusal.message):
        return True
    return problem.location == refusal.location or _is_inside(problem.location, refusal.location)


def _is_inside(inner: Location | None, outer: Location | None) -> bool:
    if inner is None or outer is None or inner.file != outer.file:
        return False
    starts = (outer.line, outer.column) <= (inner.line, inner.column)
    return starts and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)
