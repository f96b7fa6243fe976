"""Choice of the form in which a run is written."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator

from fxlsp.cli.check.formats.checked import CheckedRun
from fxlsp.cli.check.formats.github import github_lines
from fxlsp.cli.check.formats.gitlab import gitlab_text
from fxlsp.cli.check.formats.junit import junit_text
from fxlsp.cli.check.formats.sarif import sarif_text
from fxlsp.cli.check.formats.text import concise_text, full_text, statistics_text
from fxlsp.cli.check.results import CheckResults

_FOR_PEOPLE: dict[str, Callable[[CheckResults], Iterator[str]]] = {"full": full_text, "concise": concise_text}
_FOR_PROGRAMS: dict[str, Callable[[CheckedRun], str]] = {
    "github": lambda run: "\n".join(github_lines(run)),
    "gitlab": gitlab_text,
    "junit": junit_text,
    "sarif": sarif_text,
}
FORMATS = (*_FOR_PEOPLE, "json", *_FOR_PROGRAMS)


def output(results: CheckResults, timing_ms: dict[str, float], form: str, *, statistics: bool = False) -> str:
    """Return the results in one of :data:`FORMATS`; ``statistics`` counts codes in the place of problems for people."""
    if form == "json":
        text = json.dumps(results.to_json(timing_ms))
    elif form in _FOR_PEOPLE:
        text = "\n".join((statistics_text if statistics else _FOR_PEOPLE[form])(results))
    else:
        text = _FOR_PROGRAMS[form](_checked(results, timing_ms["total"] / 1000))
    return f"{text}\n" if text else ""


def _checked(results: CheckResults, seconds: float) -> CheckedRun:
    folder = os.path.realpath(os.getcwd())
    return CheckedRun(results.entries(), results.fingerprints(folder), folder, seconds)
