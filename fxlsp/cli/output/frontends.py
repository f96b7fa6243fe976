"""Text form of the verdicts of front ends."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fxlsp.cli.output.excerpts import location_text
from fxlsp.report.frontends import FrontendProblem, FrontendVerdict


def frontend_lines(verdicts: Sequence[FrontendVerdict]) -> Iterator[str]:
    """Yield a line for each front end, and below it one for each of its problems.

    Example:
        >>> list(frontend_lines([FrontendVerdict("export", "ok", "exports with a dynamic batch")]))
        ['export: exports with a dynamic batch']
    """
    for verdict in verdicts:
        yield f"{verdict.frontend}: {verdict.summary}"
        yield from (f"  {_line(problem)}" for problem in verdict.problems)


def _line(problem: FrontendProblem) -> str:
    where = "" if problem.location is None else f"{location_text(problem.location)}: "
    code = "" if problem.code is None else f"{problem.code} "
    number = "" if problem.graph_break is None else f"{problem.graph_break}: "
    link = "" if problem.link is None else f" ({number}{problem.link})"
    return f"{where}{code}{problem.headline}{link}"
