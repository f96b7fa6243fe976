"""Exit codes; scripts depend on them."""

from __future__ import annotations

from collections.abc import Iterable

from fxlsp.report.problems import Problem

NOTHING_FOUND = 0
PROBLEMS_FOUND = 1
"""At least one of severity warning or error."""
COULD_NOT_RUN = 2
"""Bad usage, no interpreter, target not found, model not loaded."""


class UsageError(Exception):
    """What the user typed cannot be run; the message says why."""


def exit_code(problems: Iterable[Problem]) -> int:
    """The exit code of a run that found ``problems``."""
    counts = any(problem.severity in ("error", "warning") for problem in problems)
    return PROBLEMS_FOUND if counts else NOTHING_FOUND
