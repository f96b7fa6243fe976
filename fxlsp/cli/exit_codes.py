"""Exit codes, which scripts depend on, and the message of a failed command."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable

from fxlsp.cli.output.excerpts import location_text
from fxlsp.report.problems import Failure, Problem

NOTHING_FOUND = 0
PROBLEMS_FOUND = 1
"""At least one of severity warning or error."""
COULD_NOT_RUN = 2
"""Wrong usage, no interpreter, target not found, model not loaded."""

NOT_CHECKED = 3
"""Nothing of severity warning or error, but a check that was ended early, or ``--strict`` and unchecked models."""


class UsageError(Exception):
    """A command line that cannot be run; the message is the reason."""


def exit_code(problems: Iterable[Problem]) -> int:
    """Return the exit code of a run that found ``problems``.

    Example:
        >>> exit_code([])
        0
    """
    counts = any(problem.severity in ("error", "warning") for problem in problems)
    return PROBLEMS_FOUND if counts else NOTHING_FOUND


def report_failure(failure: Failure, output_format: str) -> int:
    """Write why a command has no result; return the exit code.

    One message goes to standard error, with ``output_format`` "json" the failure object to standard output too.
    """
    if output_format == "json":
        sys.stdout.write(json.dumps(failure.to_json()) + "\n")
    where = f"{location_text(failure.location)}: " if failure.location is not None else ""
    sys.stderr.write(f"fxlsp: {where}{failure.code} {failure.message}\n")
    return COULD_NOT_RUN
