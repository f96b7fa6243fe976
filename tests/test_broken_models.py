"""Mistakes of ``benchmarks/mistakes`` are in the texts, and are reported by the right problems alone."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest

from benchmarks.mistakes.broken_model import MARK, MAY_WORK, BrokenModel, Edit, Host, Mistake
from benchmarks.mistakes.hosts import planted
from benchmarks.mistakes.look_alikes import LOOK_ALIKES
from benchmarks.mistakes.planted import MISTAKES
from benchmarks.mistakes.sizes import MODELS
from fxlsp.report.code_records import Severity
from fxlsp.report.locations import Location, RelatedPlace
from fxlsp.report.problems import Problem

HOST = Host("small", "net", "one\n    two\nthree\n    two\n", "net()")
MISTAKE = Mistake("misspelt", (Edit("two", f"tow{MARK}", line=2),), ("FX403",), mended_in=("net",))


def problem(line: int, code: str = "FX403", message: str = "") -> Problem:
    severity: Severity = "info" if message else "error"
    return Problem(code, severity, message, Location("net.py", line, 0, line, 1, "forward"))


def test_every_planted_snippet_parses_and_says_where_its_problem_belongs() -> None:
    for broken in planted((*MISTAKES, *LOOK_ALIKES), ("small", "middle")):
        ast.parse(broken.text)
        is_marked = any(MARK in edit.new for edit in broken.mistake.edits)
        assert is_marked == (broken.line is not None)
        assert is_marked or broken.mistake.is_look_alike or broken.mistake.codes == ("FX605",)
        assert MARK not in broken.text


def test_every_mistake_of_sizes_changes_its_model() -> None:
    for host, mistakes in MODELS:
        texts = {host.broken(mistake).text for mistake in mistakes}
        assert len({host.text, *texts}) == 1 + len(mistakes)
        assert all(map(ast.parse, texts))


def test_a_replacement_is_of_the_last_place_up_to_its_line() -> None:
    assert HOST.broken(MISTAKE) == BrokenModel(HOST, MISTAKE, HOST.text.replace("two", "tow", 1), 2)
    anywhere = replace(MISTAKE, edits=(Edit("two", f"if x:{MARK}\n    tow"),))
    assert HOST.broken(anywhere).text.endswith("three\n    if x:\n        tow\n")
    assert HOST.broken(anywhere).line == 4


@pytest.mark.parametrize("wrong", [problem(3), problem(2, "FX401"), problem(2, message=MAY_WORK)])
def test_a_problem_of_another_line_code_or_severity_reports_nothing(wrong: Problem) -> None:
    assert HOST.broken(MISTAKE).is_reported_by(problem(2))
    assert not HOST.broken(MISTAKE).is_reported_by(wrong)


def test_what_other_inputs_mend_is_reported_by_a_note_where_none_are_stated() -> None:
    broken = HOST.broken(MISTAKE)
    assert broken.is_reported_by(problem(2, message=MAY_WORK), are_inputs_stated=False)
    assert not broken.is_reported_by(problem(2), are_inputs_stated=False)


def test_a_related_place_counts_only_for_mistakes_that_allow_it() -> None:
    elsewhere = problem(3)
    named = replace(elsewhere, related=(RelatedPlace("", Location("net.py", 2, 0, 2, 1)),))
    assert not HOST.broken(MISTAKE).is_reported_by(named)
    assert HOST.broken(replace(MISTAKE, place="named line")).is_reported_by(named)
    assert not HOST.broken(replace(MISTAKE, place="named line")).is_reported_by(elsewhere)
    assert HOST.broken(replace(MISTAKE, place="anywhere")).is_reported_by(elsewhere)
