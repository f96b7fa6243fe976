"""Results for people: each problem with its excerpt, or on one line, and a summary."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from fxlsp.cli.check.causes import first_steps
from fxlsp.cli.check.results import CheckResults, ModelEntry
from fxlsp.cli.check.unchecked import unchecked_lines
from fxlsp.cli.output.excerpts import location_text, shown_path
from fxlsp.cli.output.problems import concise_line, counted_by_severity, full_lines
from fxlsp.ide.fixes.registry import fixes_for
from fxlsp.ide.problems import MovedNumber, forbids_number
from fxlsp.ide.render.numbers import counted
from fxlsp.report.frontends import FrontendVerdict
from fxlsp.report.problems import Problem
from fxlsp.report.report import Report
from fxlsp.source.text.positions import Span

_FEW = 10
"""Number of problems up to which notes and hints are shown like errors and warnings."""
_MOST_DIFFERING = 10
"""Models whose verdicts are written out."""


def full_text(results: CheckResults) -> Iterator[str]:
    """Yield the lines of all problems with excerpts, the summary, what to mend first, and what was not checked."""
    causes = results.causes()
    problems = [cause.problem for cause in causes]
    brief = [each for each in problems if len(problems) > _FEW and each.severity in ("info", "hint")]
    for problem in problems[: len(problems) - len(brief)]:
        yield from full_lines(problem, results.recipe_of(problem), number_fix(results, problem))
        yield ""
    if brief:
        yield from map(concise_line, brief)
        yield ""
    yield _summary(results.entries(), problems)
    yield from _unused_ignores(results)
    yield from _differing_verdicts(results.entries())
    yield from first_steps(causes)
    yield from unchecked_lines(results)


def concise_text(results: CheckResults) -> Iterator[str]:
    """Yield one line for each problem."""
    yield from map(concise_line, results.problems())


def statistics_text(results: CheckResults) -> Iterator[str]:
    """Yield how many problems each code has, at each of their places: ``12  FX101  warning``."""
    found = Counter((problem.code, problem.severity) for problem in results.at_each_place())
    width = len(str(max(found.values(), default=0)))
    for (code, severity), count in sorted(found.items(), key=lambda each: (-each[1], each[0])):
        yield f"{count:>{width}}  {code}  {severity}"


def number_fix(results: CheckResults, problem: Problem) -> str | None:
    """Return ``Make self.fc take 216 features: net.py:9:19``, if the quick fix of an editor would write that number.

    None if the text of the constructor's call does not hold the number, if the call is in another file or in a
    notebook, or if another model has a layer that the same call makes and runs with the number as it is.
    """
    number, place = problem.fitting, problem.location
    if number is None or place is None or place.file != number.location.file or number.location.cell is not None:
        return None
    file = next((file for file in results.files if file.document.path == place.file), None)
    reports = [attempt.outcome for attempt in results.attempts if isinstance(attempt.outcome, Report)]
    failing = {each.model for report in reports for each in report.problems if each.fitting == number}
    if file is None or any(forbids_number(report, number, failing) for report in reports):
        return None
    span = Span.of(number.location)
    fix = next(iter(fixes_for(file.document, problem.code, span, MovedNumber(number, span))), None)
    return None if fix is None else f"{fix.title}: {location_text(number.location)}"


def _summary(entries: Iterable[ModelEntry], problems: Sequence[Problem]) -> str:
    """Return ``5 models: 3 traced, 2 covered; no problems``."""
    counts = Counter(entry.status for entry in entries)
    parts = ", ".join(f"{count} {status}" for status, count in counts.items())
    models = counted(sum(counts.values()), "model") + (f": {parts}" if parts else "")
    return f"{models}; {counted_by_severity(problems)}"


def _differing_verdicts(entries: Iterable[ModelEntry]) -> Iterator[str]:
    """Yield the verdicts on the models that one of the front ends takes as they are, and another one does not."""
    differing = [entry for entry in entries if _differ(entry.frontends)]
    if differing:
        yield "Front ends differ on:"
    for entry in differing[:_MOST_DIFFERING]:
        verdicts = " · ".join(f"{each.frontend}: {each.summary}" for each in entry.frontends)
        yield f"  {location_text(entry.location)}: {entry.target}: {verdicts}"
    if len(differing) > _MOST_DIFFERING:
        yield f"  and {counted(len(differing) - _MOST_DIFFERING, 'more model')}: --format json has all"


def _differ(verdicts: Iterable[FrontendVerdict]) -> bool:
    """Return whether there are verdicts with and without a problem; no front end that came to none counts."""
    return len({bool(each.problems) for each in verdicts if each.verdict in ("ok", "problem")}) > 1


def _unused_ignores(results: CheckResults) -> Iterator[str]:
    for path, ignored in results.unused_ignores():
        what = f"of {ignored.prefix} " if ignored.prefix else ""
        yield f"{shown_path(path)}:{ignored.line}: this comment suppresses no problem {what}(# fxlsp: ignore)"
