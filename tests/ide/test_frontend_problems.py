"""Verdicts of other front ends in a file: problems at their expressions, and words in the lens."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import pytest

from fxlsp.engine.settings.policy import Policy
from fxlsp.engine.settings.settings import Level
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.frontend_problems import problems_of_verdict, repeated_failures
from fxlsp.ide.hints import hints
from fxlsp.ide.lenses import lenses
from fxlsp.ide.problems import FileProblem, problems
from fxlsp.report.code_records import Severity
from fxlsp.report.codes import OPERATION_FAILS
from fxlsp.report.frontend_codes import BREAK_AT_VALUE, COMPILE_FAILS, EXPORT_BRANCH, EXPORT_FAILS, EXPORT_FIXED
from fxlsp.report.locations import Location
from tests.ide.asked import asked, found, verdict
from tests.ide.builder import PATH, Trace, edited, place, snapshot
from tests.ide.nets import TEXT, trace

EXPRESSION = "self.conv(x)"
ELSEWHERE = Location("/elsewhere/ops.py", 3, 1, 3, 9)


def shown(present: Snapshot) -> list[tuple[str, str, int, bool]]:
    return [(each.code, each.severity, each.span.line, each.is_located) for each in problems(present, PATH)]


def only(present: Snapshot) -> FileProblem:
    (problem,) = problems(present, PATH)
    return problem


def test_a_problem_is_information_at_its_expression_and_moves_with_it() -> None:
    here = place(TEXT, EXPRESSION)
    present = snapshot(TEXT, asked(Trace(TEXT), verdict("compile", found(BREAK_AT_VALUE, here))))
    assert shown(present) == [(BREAK_AT_VALUE, "info", here.line, True)]
    assert (only(present).span.column, only(present).span.end_column) == (here.column, here.end_column)
    assert only(present).message == "torch.compile: It stops.\n  Hint: go on"
    assert shown(edited(present, "import torch\n", "import torch\n\n")) == [
        (BREAK_AT_VALUE, "info", here.line + 1, True)
    ]
    assert shown(edited(present, EXPRESSION, "self.conv(x, 1)")) == []


@pytest.mark.parametrize("at", [None, ELSEWHERE], ids=["without a place", "in a file that is not open"])
def test_what_has_no_place_in_an_open_file_is_at_the_name_of_the_model(at: Location | None) -> None:
    present = snapshot(TEXT, asked(Trace(TEXT), verdict("export", found(EXPORT_BRANCH, at))))
    assert shown(present) == [(EXPORT_BRANCH, "info", place(TEXT, "class Net").line, False)]
    assert [related.path for related in only(present).related] == ([] if at is None else [ELSEWHERE.file])


def test_settings_and_comments_choose_among_them() -> None:
    here = place(TEXT, EXPRESSION)
    state = asked(Trace(TEXT), verdict("export", found(EXPORT_BRANCH, here)), verdict("compile", found("FX801", here)))
    present = snapshot(TEXT, state)
    chosen = replace(present, policies={"": Policy(levels={"FX7": "warning", "FX8": "off"})})
    assert shown(chosen) == [(EXPORT_BRANCH, "warning", here.line, True)]
    lines = TEXT.split("\n")
    lines[here.line - 1] += "  # fxlsp: ignore[FX7]"
    ignoring = "\n".join(lines)
    quiet = replace(Trace(ignoring).state(), frontends=state.frontends)
    quiet = replace(quiet, frontends=tuple(replace(each, texts=quiet.texts) for each in quiet.frontends))
    assert [code for code, *_ in shown(snapshot(ignoring, quiet))] == ["FX801"]


def test_an_operation_that_fails_anyway_is_one_problem() -> None:
    made = Trace(TEXT).problem(OPERATION_FAILS, EXPRESSION, "expected 4 channels")
    here = place(TEXT, EXPRESSION)
    state = asked(made, verdict("export", found(EXPORT_FAILS, here)), verdict("compile", found(COMPILE_FAILS, here)))
    assert [code for code, *_ in shown(snapshot(TEXT, state))] == [OPERATION_FAILS]


def test_a_front_end_that_could_not_be_asked_has_no_problem() -> None:
    could_not = verdict("export", found(None, None), result="unavailable", summary="could not be asked")
    present = snapshot(TEXT, asked(Trace(TEXT), could_not))
    assert shown(present) == []
    assert any(lens.text.endswith("traceable · export: could not be asked") for lens in lenses(present, PATH))


def test_the_lens_of_the_class_ends_with_the_verdicts() -> None:
    fine = verdict("export", result="ok", summary="exports with a dynamic batch")
    present = snapshot(TEXT, asked(Trace(TEXT), fine, verdict("compile", summary="2 graph breaks")))
    (text,) = (lens.text for lens in lenses(present, PATH) if lens.name == "Net" and lens.kind == "name")
    assert text.endswith("traceable · export: exports with a dynamic batch · compile: 2 graph breaks")


def test_problems_of_one_code_at_one_place_are_one() -> None:
    here = place(TEXT, EXPRESSION)
    both = verdict(
        "compile", found("FX801", here, "One."), found("FX801", here, "Two."), found("FX801", None, "Three.")
    )
    assert [each.problem.message for each in problems_of_verdict(both, "Net")] == [
        "torch.compile: One.\nTwo.",
        "torch.compile: Three.",
    ]


@pytest.mark.parametrize(
    ("own", "other", "is_repeated"), [("error", "warning", True), ("info", "warning", False), ("info", "info", True)]
)
def test_a_warning_remains_beside_a_failure_that_is_less(own: Severity, other: Severity, is_repeated: bool) -> None:
    assert repeated_failures([(OPERATION_FAILS, own, (1, 2)), (EXPORT_FAILS, other, (1, 2))]) == [False, is_repeated]
    assert repeated_failures([(OPERATION_FAILS, own, None), (EXPORT_FAILS, other, None)]) == [False, False]


@pytest.mark.parametrize(("batch", "end"), [("fixed", " · fixes the batch"), ("limited", " · limits the batch")])
def test_the_hint_of_the_expression_that_fixes_the_batch_says_so(batch: Literal["fixed", "limited"], end: str) -> None:
    before = {each.line: each.text for each in hints(snapshot(TEXT, trace().state()), PATH, 1, 100)}

    def changed(expression: str, levels: dict[str, Level]) -> dict[int, str]:
        answer = replace(verdict("export", found(EXPORT_FIXED, place(TEXT, expression)), result="ok"), batch=batch)
        present = replace(snapshot(TEXT, asked(trace(), answer)), policies={"": Policy(levels=levels)})
        after = {each.line: each.text for each in hints(present, PATH, 1, 100)}
        assert after.keys() == before.keys()
        return {line: text for line, text in after.items() if text != before[line]}

    line = place(TEXT, "self.stem(x)").line
    assert changed("self.stem(x)", {}) == {line: f"{before[line]}{end}"}
    # A whole statement, a part of what the hint is about, what has no hint of its own, and what is silenced.
    for expression in ("x = self.stem(x)", "self.stem", EXPRESSION):
        assert changed(expression, {}) == {}
    assert changed("self.stem(x)", {"FX704": "off"}) == {}


def test_no_hint_names_the_batch_where_the_trace_is_older_or_nothing_was_asked() -> None:
    answer = replace(verdict("export", found(EXPORT_FIXED, place(TEXT, "self.stem(x)")), result="ok"), batch="fixed")
    stale = edited(snapshot(TEXT, asked(trace(), answer)), "import torch\n", "import torch\n\n")
    dynamic = snapshot(TEXT, asked(trace(), verdict("export", result="ok")))
    for present in (stale, dynamic):
        assert not any("batch" in each.text for each in hints(present, PATH, 1, 100))
