"""Causes that ``fxlsp check`` reports: each once, with all its places, the one that breaks most models first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace

from fxlsp.cli.output.excerpts import location_text
from fxlsp.ide.causes import ALSO_HERE, Cause, Symptom, cause_of, missing_package
from fxlsp.ide.render.numbers import counted
from fxlsp.report.code_records import RANKS
from fxlsp.report.locations import Location, RelatedPlace
from fxlsp.report.problems import Problem
from fxlsp.source.text.documents import Document

_MOST_FIRST = 3
"""Causes that are named as the first to mend."""


Models = dict[tuple[str, Location | str], frozenset[str]]
"""Models in which a problem was found, by its code and place."""


@dataclass(frozen=True)
class CheckedCause:
    """Problem with all places where its cause shows."""

    problem: Problem
    models: frozenset[str]
    """Targets in whose traces it was found."""


def models_by_problem(problems: Iterable[Problem]) -> Models:
    """Return the models in which each problem was found, before those at one place are merged."""
    found: dict[tuple[str, Location | str], set[str]] = {}
    for problem in problems:
        found.setdefault((problem.code, problem.location or problem.message), set()).add(problem.model)
    return {key: frozenset(models) for key, models in found.items()}


def merge_causes(
    problems: Sequence[Problem],
    models: Models,
    document: Callable[[str], Document | None],
) -> list[CheckedCause]:
    """Return each cause once, in the order in which they matter.

    Errors come first, then warnings, notes and hints; among equals what concerns most models, then what shows at most
    places, then the order of files and lines. Files with the same text, such as the copies that runs keep in their
    folders, count as one.

    Args:
        problems: One for each code and place.
        models: Those in which each was found.
        document: Returns the text of a file, None if it cannot be read.
    """
    groups: dict[Cause, list[Problem]] = {}
    files: dict[str, str] = {}
    for problem in problems:
        place = problem.location
        text = None if place is None else document(place.file)
        if place is not None and text is not None:
            place = replace(place, file=files.setdefault(text.text, place.file))
        cause = cause_of(Symptom.of(replace(problem, location=place)), text)
        groups.setdefault(cause, []).append(problem)
    causes = [_merged(sorted(group, key=_order), models) for group in groups.values()]
    return sorted(causes, key=lambda cause: (RANKS[cause.problem.severity], -len(cause.models), _order(cause.problem)))


def _merged(group: Sequence[Problem], models: Models) -> CheckedCause:
    first, *others = group
    concerned = frozenset[str]().union(*(_models_of(each, models) for each in group))
    found = (each.location for each in others if each.location is not None)
    places = [place for place in dict.fromkeys(found) if place != first.location]
    if not places:
        return CheckedCause(first, concerned)
    in_models = f", in {counted(len(concerned), 'model')}" if len(concerned) > 1 else ""
    end = "" if first.message.endswith((".", "?", "!", ":")) else "."
    message = f"{first.message}{end}\nAlso at {counted(len(places), 'more place')}{in_models}."
    related = (*first.related, *(RelatedPlace(ALSO_HERE, place) for place in places))
    fitting = {each.fitting for each in group}
    only = fitting.pop() if len(fitting) == 1 else None
    return CheckedCause(replace(first, message=message, related=related, fitting=only), concerned)


def _models_of(problem: Problem, models: Models) -> frozenset[str]:
    place = problem.location
    found = models.get((problem.code, place)) if place is not None else None
    return found or frozenset({problem.model} - {""})


def _order(problem: Problem) -> tuple[int, str, int, int, str]:
    place = problem.location
    where = ("", 0, 0) if place is None else (place.file, place.line, place.column)
    return (RANKS[problem.severity], *where, problem.code)


def first_steps(causes: Sequence[CheckedCause]) -> list[str]:
    """Return the lines that name what to do first; none if there is no choice."""
    pressing = [cause for cause in causes if cause.problem.severity in ("error", "warning")]
    if len(pressing) < 2:
        return []
    steps = (_step(cause) for cause in pressing[:_MOST_FIRST])
    return ["Start with:", *(f"  {number}. {step}" for number, step in enumerate(steps, 1))]


def _step(cause: CheckedCause) -> str:
    problem = cause.problem
    headline, *_ = problem.message.splitlines() or [""]
    package = missing_package(problem.message)
    what = f"{problem.code} {problem.severity}: {' '.join(headline.split())}"
    if package is not None:
        what = f"install what provides {package}, or name the interpreter that has it"
    where = f"{location_text(problem.location)}: " if problem.location is not None else ""
    return f"{where}{what}" + (f" ({len(cause.models)} models)" if len(cause.models) > 1 else "")
