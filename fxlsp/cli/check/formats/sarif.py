"""SARIF 2.1.0, which code hosts and editors read.

Source of the form: OASIS, "Static Analysis Results Interchange Format (SARIF) Version 2.1.0".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from urllib.parse import quote

from fxlsp import __version__
from fxlsp.cli.check.formats.checked import CheckedRun
from fxlsp.report.code_records import Severity
from fxlsp.report.codes import page_url, severity_of
from fxlsp.report.locations import Location
from fxlsp.report.problems import Problem

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
_HOME = "https://github.com/fxlsp/fxlsp"
_ROOT = "SRCROOT"
_LEVELS: dict[Severity, str] = {"error": "error", "warning": "warning", "info": "note", "hint": "note"}


def sarif_text(run: CheckedRun) -> str:
    """Return a log with one run, and a result for each problem."""
    codes = sorted({problem.code for problem in run.problems})
    rules = [_rule(code) for code in codes]
    results = [_result(run, problem, digest, codes.index(problem.code)) for problem, digest in run.digests()]
    driver = {"name": "fxlsp", "version": __version__, "informationUri": _HOME, "rules": rules}
    root = Path(run.folder).as_uri() + "/"
    log = {
        "$schema": _SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {"driver": driver},
                "columnKind": "unicodeCodePoints",
                "originalUriBaseIds": {_ROOT: {"uri": root}},
                "results": results,
            }
        ],
    }
    return json.dumps(log, indent=1)


def _rule(code: str) -> dict[str, Any]:
    return {
        "id": code,
        "helpUri": page_url(code),
        "defaultConfiguration": {"level": _LEVELS[severity_of(code)]},
    }


def _result(run: CheckedRun, problem: Problem, digest: str, rule: int) -> dict[str, Any]:
    found: dict[str, Any] = {
        "ruleId": problem.code,
        "ruleIndex": rule,
        "level": _LEVELS[problem.severity],
        "message": {"text": problem.message},
        "partialFingerprints": {"fxlsp/v1": digest},
        "properties": {"severity": problem.severity, "model": problem.model, "modulePath": problem.module_path},
    }
    if problem.location is not None:
        found["locations"] = [_location(run, problem.location)]
    if problem.related:
        found["relatedLocations"] = [
            {**_location(run, each.location), "id": number, "message": {"text": each.message}}
            for number, each in enumerate(problem.related)
        ]
    return found


def _location(run: CheckedRun, place: Location) -> dict[str, Any]:
    artifact = {"uri": quote(run.path(place.file)), "uriBaseId": _ROOT}
    if place.cell is not None:
        # A region would be one of the notebook's JSON.
        cell = {"name": f"cell {place.cell}, line {place.line}, column {place.column}", "kind": "member"}
        return {"physicalLocation": {"artifactLocation": artifact}, "logicalLocations": [cell]}
    region = {
        "startLine": place.line,
        "startColumn": place.column,
        "endLine": place.end_line,
        "endColumn": place.end_column,
    }
    return {"physicalLocation": {"artifactLocation": artifact, "region": region}}
