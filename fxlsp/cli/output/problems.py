"""Problems as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from fxlsp.cli.output.excerpts import excerpt, place
from fxlsp.ide.render.numbers import counted
from fxlsp.report.codes import Severity, page_url
from fxlsp.report.locations import Location
from fxlsp.report.problems import Failure, Problem

_NOUNS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note", "hint": "hint"}


def full_lines(problem: Problem) -> list[str]:
    """The message, the lines of source with the expression underlined, what else helps, and where its page is."""
    first, *rest = problem.message.splitlines() or [""]
    lines = [f"{problem.severity}[{problem.code}]: {first}", *(f"    {line}" for line in rest)]
    if problem.location is not None:
        lines += [f"  --> {place(problem.location)}", *excerpt(problem.location)]
    facts = [f"model: {problem.model}"] if problem.model else []
    if problem.module_path:
        facts.append(f"module path: {problem.module_path}")
    facts += [f"{_one_line(related.message)}: {place(related.location)}" for related in problem.related]
    facts.append(f"help: {page_url(problem.code)}")
    return [*lines, *(f"  = {fact}" for fact in facts)]


def concise_line(problem: Problem) -> str:
    """``path:line:column: CODE severity: message``."""
    where = place(problem.location) if problem.location is not None else problem.model
    return f"{where}: {problem.code} {problem.severity}: {_one_line(problem.message)}"


def problem_of(failure: Failure, location: Location | None) -> Problem:
    """The problem that a failure is, at ``location`` where it names no place of its own."""
    severity: Severity = "info" if failure.needs is not None else "warning"
    where = failure.location or location
    return Problem(failure.code, severity, failure.message, where, failure.related, None, failure.target)


def counted_by_severity(problems: Sequence[Problem]) -> str:
    """``3 problems (1 error, 2 warnings)``."""
    if not problems:
        return "no problems"
    counts = Counter(problem.severity for problem in problems)
    parts = [counted(counts[severity], noun) for severity, noun in _NOUNS.items() if counts[severity]]
    return f"{counted(len(problems), 'problem')} ({', '.join(parts)})"


def _one_line(text: str) -> str:
    return " ".join(text.split())
