"""Text forms of problems."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fxlsp.cli.output.excerpts import excerpt, location_text
from fxlsp.ide.causes import ALSO_HERE
from fxlsp.ide.render.numbers import counted
from fxlsp.ide.trace_view.provenance import readable_recipe, source_text
from fxlsp.report.code_records import Severity
from fxlsp.report.codes import page_url
from fxlsp.report.locations import Location
from fxlsp.report.problems import Failure, Problem
from fxlsp.report.recipes import Recipe

_PLACES_SHOWN = 4
_NOUNS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note", "hint": "hint"}


def full_lines(problem: Problem, recipe: Recipe | None = None, fix: str | None = None) -> list[str]:
    """Return the lines of a problem: message, excerpt, related facts, its fix and its page.

    Args:
        recipe: of the trace that found it; shown if a search found it, since it may be what is wrong.
        fix: what would remove the problem, and where.
    """
    first, *rest = problem.message.splitlines() or [""]
    lines = [f"{problem.severity}[{problem.code}]: {first}", *(f"    {line}" for line in rest)]
    if problem.location is not None:
        lines += [f"  --> {location_text(problem.location)}", *excerpt(problem.location)]
    facts = [f"model: {problem.model}"] if problem.model else []
    if recipe is not None and recipe.source == "search":
        facts.append(f"recipe: {readable_recipe(recipe)} ({source_text(recipe)})")
    if problem.module_path:
        facts.append(f"module path: {problem.module_path}")
    facts += [
        f"{_one_line(related.message)}: {location_text(related.location)}"
        for related in problem.related
        if related.message != ALSO_HERE
    ]
    facts += _further_places(problem)
    if fix is not None:
        facts.append(f"fix: {fix}")
    facts.append(f"help: {page_url(problem.code)}")
    return [*lines, *(f"  = {fact}" for fact in facts)]


def _further_places(problem: Problem) -> list[str]:
    """Return the fact that names the places where the cause shows again, if there are any."""
    places = [location_text(related.location) for related in problem.related if related.message == ALSO_HERE]
    if not places:
        return []
    more = f" and {len(places) - _PLACES_SHOWN} more" if len(places) > _PLACES_SHOWN else ""
    return [f"{ALSO_HERE}: {', '.join(places[:_PLACES_SHOWN])}{more}"]


def concise_line(problem: Problem) -> str:
    """Return ``path:line:column: CODE severity: headline``; the headline is the first line of the message."""
    headline, *_ = problem.message.splitlines() or [""]
    where = location_text(problem.location) if problem.location is not None else problem.model
    return f"{where}: {problem.code} {problem.severity}: {_one_line(headline)}"


def problem_of(failure: Failure, location: Location | None) -> Problem:
    """Return a failure as a problem.

    Args:
        failure: why there is no report.
        location: of the problem, where the failure has none.
    """
    where = failure.location or location
    return Problem(failure.code, failure.severity, failure.message, where, failure.related, None, failure.target)


def counted_by_severity(problems: Sequence[Problem]) -> str:
    """Return ``3 problems (1 error, 2 warnings)``.

    Example:
        >>> counted_by_severity([])
        'no problems'
    """
    if not problems:
        return "no problems"
    counts = Counter(problem.severity for problem in problems)
    parts = [counted(counts[severity], noun) for severity, noun in _NOUNS.items() if counts[severity]]
    return f"{counted(len(problems), 'problem')} ({', '.join(parts)})"


def _one_line(text: str) -> str:
    return " ".join(text.split())
