"""Code quality report of GitLab: a JSON array of issues.

Source of the form: GitLab's page "Code Quality", "Implement a custom tool".
"""

from __future__ import annotations

import json

from fxlsp.cli.check.formats.checked import CheckedRun, headline
from fxlsp.report.code_records import Severity
from fxlsp.report.problems import Problem

_SEVERITIES: dict[Severity, str] = {"error": "major", "warning": "minor", "info": "info", "hint": "info"}


def gitlab_text(run: CheckedRun) -> str:
    """Return the report; problems without a place are at the first line of the file of their model."""
    return json.dumps([_issue(run, problem, digest) for problem, digest in run.digests()], indent=1)


def _issue(run: CheckedRun, problem: Problem, digest: str) -> dict[str, object]:
    place = problem.location
    lines = {"begin": 1} if place is None or place.cell is not None else {"begin": place.line, "end": place.end_line}
    path = run.path(place.file) if place is not None else problem.model.partition(":")[0]
    return {
        "description": f"{problem.code}: {headline(problem)}",
        "check_name": problem.code,
        "fingerprint": digest,
        "severity": _SEVERITIES[problem.severity],
        "location": {"path": path, "lines": lines},
    }
