"""JUnit's XML: a test case for each model, and one for each file that has problems of its own."""

from __future__ import annotations

from collections.abc import Sequence
from xml.etree import ElementTree

from fxlsp.cli.check.formats.checked import CheckedRun, headline
from fxlsp.cli.check.results import ModelEntry
from fxlsp.cli.output.excerpts import location_text
from fxlsp.report.problems import Problem

_COUNTED = ("error", "warning")
"""Severities for which a test fails, as the exit code does."""


def junit_text(run: CheckedRun) -> str:
    """Return the report. A case fails if its model has errors or warnings; a model that was not traced is skipped."""
    by_model: dict[str, list[Problem]] = {entry.target: [] for entry in run.entries}
    of_files: dict[str, list[Problem]] = {}
    for problem in run.problems:
        found = by_model.get(problem.model)
        if found is not None:
            found.append(problem)
        else:
            of_files.setdefault(problem.model or "fxlsp", []).append(problem)
    cases = [_case(run, entry, by_model[entry.target]) for entry in run.entries]
    cases += [_file_case(name, problems) for name, problems in of_files.items()]
    failures, skipped = (sum(case.find(kind) is not None for case in cases) for kind in ("failure", "skipped"))
    counts = {"tests": str(len(cases)), "failures": str(failures), "errors": "0", "time": f"{run.seconds:.3f}"}
    suites = ElementTree.Element("testsuites", {"name": "fxlsp", **counts})
    suite = ElementTree.SubElement(suites, "testsuite", {"name": "fxlsp", "skipped": str(skipped), **counts})
    suite.extend(cases)
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="utf-8"?>\n' + ElementTree.tostring(suites, encoding="unicode")


def _case(run: CheckedRun, entry: ModelEntry, problems: Sequence[Problem]) -> ElementTree.Element:
    name = entry.target.rpartition(":")[2]
    case = ElementTree.Element("testcase", classname=run.path(entry.location.file), name=name)
    _add_failure(case, problems)
    if entry.status in ("failed", "skipped", "unshaped") and case.find("failure") is None:
        ElementTree.SubElement(case, "skipped", message=_xml_text(entry.reason or entry.status))
    return case


def _file_case(name: str, problems: Sequence[Problem]) -> ElementTree.Element:
    case = ElementTree.Element("testcase", classname=_xml_text(name), name="file")
    _add_failure(case, problems)
    return case


def _add_failure(case: ElementTree.Element, problems: Sequence[Problem]) -> None:
    failing = [problem for problem in problems if problem.severity in _COUNTED]
    if failing:
        first = failing[0]
        message = _xml_text(f"{first.code}: {headline(first)}")
        failure = ElementTree.SubElement(case, "failure", type=first.severity, message=message)
        failure.text = _xml_text("\n\n".join(map(_text, failing)))
    others = [problem for problem in problems if problem.severity not in _COUNTED]
    if others:
        ElementTree.SubElement(case, "system-out").text = _xml_text("\n\n".join(map(_text, others)))


def _text(problem: Problem) -> str:
    where = f"{location_text(problem.location)}: " if problem.location is not None else ""
    return f"{where}{problem.severity}[{problem.code}]: {problem.message}"


def _xml_text(text: str) -> str:
    """Return a text without the characters that XML 1.0 cannot hold, such as terminal escapes."""
    return "".join(each if _is_xml(ord(each)) else "\N{REPLACEMENT CHARACTER}" for each in text)


def _is_xml(code: int) -> bool:
    return code in (0x9, 0xA, 0xD) or 0x20 <= code <= 0xD7FF or 0xE000 <= code <= 0xFFFD or code >= 0x10000
