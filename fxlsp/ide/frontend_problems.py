"""Problems that torch.export and torch.compile have with a model, of their verdicts."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from fxlsp.engine.state.snapshot import FrontendAnswer, ModelState, Snapshot
from fxlsp.ide.trace_view.in_trace import current_span
from fxlsp.ide.trace_view.outline import class_names, factory_and_instance_names
from fxlsp.ide.trace_view.report_index import index_of
from fxlsp.report.code_records import RANKS, Severity, Trait
from fxlsp.report.codes import codes_with, severity_of
from fxlsp.report.frontend_codes import COMPILE_FAILS, EXPORT_FAILS, EXPORT_FIXED
from fxlsp.report.frontends import FrontendProblem, FrontendVerdict
from fxlsp.report.locations import Location, RelatedPlace
from fxlsp.report.problems import Problem
from fxlsp.source.python.ignores import is_ignored
from fxlsp.source.text.positions import Span

_RAISES = codes_with(Trait.RAISES)
_BATCHES = {"fixed": "fixes the batch", "limited": "limits the batch"}


@dataclass(frozen=True, slots=True)
class VerdictProblem:
    """Problem of a verdict, with the severity of its code."""

    problem: Problem
    is_of_machine: bool
    """Whether what this machine lacks, or what fxlsp keeps from a model, may be the reason."""


def problems_of_verdict(verdict: FrontendVerdict, model: str, name: Location | None = None) -> Iterator[VerdictProblem]:
    """Yield the problems of a verdict, those of one code at one place as one.

    Args:
        verdict: of another front end than torch.fx; it has no problems if that could not be asked.
        model: the model, as problems name it.
        name: where the model's name is, the place of problems without one of their own.
    """
    found: dict[tuple[str, Location | None], list[FrontendProblem]] = {}
    for each in verdict.problems if verdict.verdict != "unavailable" else ():
        if each.code is not None:
            found.setdefault((each.code, each.location or name), []).append(each)
    for (code, place), group in found.items():
        words = "\n".join(dict.fromkeys(map(_words, group)))
        problem = Problem(code, severity_of(code), f"torch.{verdict.frontend}: {words}", place, model=model)
        yield VerdictProblem(problem, all(each.is_of_machine for each in group))


def _words(found: FrontendProblem) -> str:
    """Return torch's words without its own stacks, with the page that they name."""
    words = "\n".join(line.rstrip() for line in (found.words or found.message).splitlines() if line.strip())
    return words if found.link is None or found.link in words else f"{words}\nSee {found.link}"


def repeated_failures(problems: Sequence[tuple[str, Severity, Hashable]]) -> list[bool]:
    """Return for each problem whether it is the failure of a front end where the model itself fails.

    Such an operation fails with and without them, and is one mistake. A warning remains beside a failure that is less:
    the inputs of another model, which fails there, may be guessed.

    Args:
        problems: code, severity, and where each begins, None if it has no place. Only one of two locations of the same
            expression may know its function.
    """
    failing: dict[Hashable, int] = {}
    for code, severity, place in problems:
        if code in _RAISES and place is not None:
            failing[place] = min(RANKS[severity], failing.get(place, RANKS[severity]))

    def is_repeated(code: str, severity: Severity, place: Hashable) -> bool:
        # Codes of a front end that failed for no reason of its own, as far as is known.
        rank = failing.get(place) if code in (EXPORT_FAILS, COMPILE_FAILS) else None
        return rank is not None and (severity not in ("error", "warning") or rank <= RANKS[severity])

    return [is_repeated(*each) for each in problems]


@dataclass(frozen=True, slots=True)
class PlacedProblem:
    """Problem of a verdict at its span in the present text of a file."""

    problem: Problem
    span: Span
    texts: Mapping[str, str]
    """Digests of the texts that the problem's location refers to."""


def placed_problems(snapshot: Snapshot, path: str) -> Iterator[PlacedProblem]:
    """Yield what other front ends found in a file.

    What has no place of its own, or one in a file that is not open, is at the name of its model.
    """
    for state in snapshot.asked if path not in snapshot.excluded else ():
        for answer in state.frontends:
            for found in problems_of_verdict(answer.verdict, state.key.name):
                problem = _at_the_name(snapshot, found.problem)
                span = _span(snapshot, path, state, answer, problem.location)
                if span is not None:
                    yield PlacedProblem(problem, span, answer.texts)


def batch_limits(snapshot: Snapshot, path: str) -> dict[tuple[int, int], str]:
    """Return ``fixes the batch`` for the ends of the expressions of which torch.export says so.

    Only for expressions that the trace has too, since other places may be whole lines, and not for what is silenced.
    """
    limits: dict[tuple[int, int], str] = {}
    for state in snapshot.asked if path not in snapshot.excluded else ():
        traced = {} if state.report is None or state.is_stale else index_of(state.report).expressions(path)
        for answer in state.frontends:
            words = _BATCHES.get(answer.verdict.batch or "")
            for place in (each.location for each in answer.verdict.problems if words is not None):
                is_exact = place is not None and Span.of(place) in traced
                span = _span(snapshot, path, state, answer, place) if is_exact else None
                if words is not None and span is not None and _is_reported(snapshot, path, span):
                    limits[span.end_line, span.end_column] = words
    return limits


def _is_reported(snapshot: Snapshot, path: str, span: Span) -> bool:
    """Return whether neither the settings nor a comment silence that an expression fixes the batch."""
    document = snapshot.document(path)
    is_ignored_here = document is not None and is_ignored(document, EXPORT_FIXED, span)
    return (
        snapshot.policy_of(path).severity(EXPORT_FIXED, severity_of(EXPORT_FIXED)) is not None and not is_ignored_here
    )


def _at_the_name(snapshot: Snapshot, problem: Problem) -> Problem:
    """Return a problem without its location if that is in a file that is not open."""
    place = problem.location
    if place is None or snapshot.document(place.file) is not None:
        return problem
    return replace(problem, location=None, related=(RelatedPlace("it happens here", place),))


def _span(
    snapshot: Snapshot, path: str, state: ModelState, answer: FrontendAnswer, place: Location | None
) -> Span | None:
    """Return where a problem is in the present text of a file; None if it is in another one, or was edited away."""
    if place is None:
        names = class_names(snapshot, path) | factory_and_instance_names(snapshot, path)
        return names.get(state.key.name) if state.key.file == path else None
    return current_span(snapshot, place, answer.texts) if place.file == path else None
