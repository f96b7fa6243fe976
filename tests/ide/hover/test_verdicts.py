"""The line of a hover that compares the verdicts of all front ends on an expression."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fxlsp.engine.settings.policy import Policy
from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.hover.hover import hover
from fxlsp.report.codes import CONTROL_FLOW, ITERATION, OPERATION_FAILS, TYPE_TEST
from fxlsp.report.frontend_codes import (
    BREAK_AT_CODE,
    BREAK_AT_VALUE,
    COMPILE_DIED,
    COMPILE_FAILS,
    EXPORT_BRANCH,
    EXPORT_DIED,
    EXPORT_FIXED,
)
from fxlsp.report.frontends import FrontendVerdict
from fxlsp.report.graph import TraceError, Verdict
from fxlsp.report.locations import Location
from tests.ide.asked import asked, found, verdict
from tests.ide.builder import PATH, Trace, edited, place, snapshot, tensor

TEXT = """\
import torch
from torch import nn


class Net(nn.Module):
    def forward(self, x):
        for row in x.rows():
            x = x + row
        return x.view(2, -1).relu()
"""
ROWS, VIEW = "x.rows()", "x.view(2, -1)"
AT_ROWS, AT_VIEW, AT_RELU = (place(TEXT, each) for each in (ROWS, VIEW, f"{VIEW}.relu()"))
FILE = Location("/elsewhere/ops.py", 3, 1, 3, 9)
EXPORTS = verdict("export", result="ok", summary="exports with a dynamic batch")
COMPILES = verdict("compile", result="ok", summary="compiles as one graph")


def refused(code: str = ITERATION) -> Trace:
    """Return a trace with a problem of torch.fx."""
    return Trace(TEXT).problem(code, ROWS, "cannot trace", severity="warning")


def state(made: Trace, *verdicts: FrontendVerdict, error: Location | None = None) -> ModelState:
    """Return what is known of a model, which torch.fx refuses at the location of an error."""
    known = asked(made, *verdicts)
    assert known.report is not None
    failed = Verdict(False, TraceError("TraceError", "cannot trace", error)) if error is not None else Verdict(True)
    return replace(known, report=replace(known.report, verdict=failed))


def lines(present: Snapshot, expression: str) -> list[str]:
    """Return the lines of the hover on an expression that compare front ends."""
    here = place(present.documents[PATH].text, expression)
    text = hover(present, PATH, here.line, here.end_column - 1)
    shown = [] if text is None else text.text.plain.split("\n")
    return [each for each in shown if " · torch." in each]


def line(known: ModelState, expression: str = ROWS) -> str:
    return "\n".join(lines(snapshot(TEXT, known), expression))


def test_what_torch_fx_alone_refuses_or_mistraces() -> None:
    others = "torch.export: taken · torch.compile: taken"
    assert line(state(refused(), EXPORTS, COMPILES, error=AT_ROWS)) == f"torch.fx: refused (FX102) · {others}"
    mistraced = state(refused(TYPE_TEST), EXPORTS, COMPILES)
    assert line(mistraced) == f"torch.fx: mistraced ({TYPE_TEST}) · {others}"
    assert line(state(refused(), EXPORTS, error=AT_ROWS)) == "torch.fx: refused (FX102) · torch.export: taken"


@pytest.mark.parametrize(
    ("of_export", "of_compile", "expected"),
    [
        (EXPORTS, verdict("compile", found(BREAK_AT_CODE, AT_ROWS)), "taken · torch.compile: graph break (FX802)"),
        (EXPORTS, verdict("compile", found(COMPILE_FAILS, AT_ROWS)), "taken · torch.compile: fails (FX899)"),
        (verdict("export", found(EXPORT_BRANCH, AT_ROWS)), COMPILES, "refused (FX701) · torch.compile: taken"),
        (
            replace(verdict("export", found(EXPORT_FIXED, AT_ROWS), result="ok"), batch="fixed"),
            COMPILES,
            "with one batch only (FX704) · torch.compile: taken",
        ),
        (
            replace(verdict("export", found(EXPORT_FIXED, AT_ROWS), result="ok"), batch="limited"),
            COMPILES,
            "with some batches only (FX704) · torch.compile: taken",
        ),
        (
            replace(verdict("export", found(EXPORT_FIXED, AT_VIEW), result="ok"), batch="fixed"),
            verdict("compile", found(BREAK_AT_VALUE, AT_ROWS)),
            "taken · torch.compile: graph break (FX801)",
        ),
    ],
)
def test_what_another_front_end_alone_refuses(
    of_export: FrontendVerdict, of_compile: FrontendVerdict, expected: str
) -> None:
    assert line(state(Trace(TEXT), of_export, of_compile)) == f"torch.fx: taken · torch.export: {expected}"


@pytest.mark.parametrize("at", [AT_VIEW, FILE], ids=["in this file", "in another file"])
def test_a_front_end_that_stopped_elsewhere_is_not_said_to_take_the_expression(at: Location) -> None:
    breaks = verdict("compile", found(BREAK_AT_VALUE, at), summary="1 graph break")
    exports = verdict("export", found(EXPORT_BRANCH, at))
    of_compile = state(refused(), EXPORTS, breaks, error=AT_ROWS)
    assert (
        line(of_compile) == "torch.fx: refused (FX102) · torch.export: taken · torch.compile: 1 graph break elsewhere"
    )
    of_export = state(refused(), exports, COMPILES, error=AT_ROWS)
    assert line(of_export) == "torch.fx: refused (FX102) · torch.export: refused elsewhere · torch.compile: taken"
    at_rows = verdict("compile", found(BREAK_AT_VALUE, AT_ROWS), summary="1 graph break")
    of_fx = state(Trace(TEXT), EXPORTS, at_rows, error=at)
    assert line(of_fx) == "torch.fx: refused elsewhere · torch.export: taken · torch.compile: graph break (FX801)"
    assert line(state(refused(), exports, breaks, error=AT_ROWS)) == ""


def test_nothing_where_all_have_a_problem_or_none_was_asked() -> None:
    breaks = verdict("compile", found(BREAK_AT_VALUE, AT_ROWS))
    refuses = verdict("export", found(EXPORT_BRANCH, AT_ROWS))
    assert line(state(refused(CONTROL_FLOW), refuses, breaks, error=AT_ROWS)) == ""
    assert line(state(refused(), error=AT_ROWS)) == ""
    assert line(state(Trace(TEXT), EXPORTS, COMPILES)) == ""


@pytest.mark.parametrize(
    "unknown",
    [
        verdict("compile", found(BREAK_AT_VALUE, None), summary="1 graph break"),
        verdict("compile", found(None, None), result="unavailable", summary="could not be asked"),
        verdict("compile", found(COMPILE_DIED, AT_ROWS), result="crashed", summary="crashed"),
        verdict("compile", found(COMPILE_DIED, AT_VIEW), result="timeout", summary="ran out of time"),
        verdict("compile", found(BREAK_AT_VALUE, place(TEXT, "x.rows"))),
        verdict("compile", found(BREAK_AT_VALUE, place(TEXT, "for row in x.rows():"))),
    ],
    ids=["no place", "unavailable", "crashed here", "too slow elsewhere", "a part", "around it"],
)
def test_a_front_end_whose_opinion_is_not_known_is_left_out(unknown: FrontendVerdict) -> None:
    known = state(refused(), EXPORTS, unknown, error=AT_ROWS)
    assert line(known) == "torch.fx: refused (FX102) · torch.export: taken"
    assert line(state(refused(), unknown, error=AT_ROWS)) == ""


def test_torch_fx_is_left_out_where_it_may_not_have_come() -> None:
    breaks = verdict("compile", found(BREAK_AT_VALUE, AT_VIEW), summary="1 graph break")
    others = "torch.export: taken · torch.compile: graph break (FX801)"
    assert line(state(refused(TYPE_TEST), EXPORTS, breaks), VIEW) == others
    # It ended here, for a reason that has no code of its own.
    assert line(state(Trace(TEXT), EXPORTS, breaks, error=AT_VIEW), VIEW) == others
    assert line(state(Trace(TEXT), EXPORTS, breaks, error=AT_RELU), VIEW) == others
    died = verdict("export", found(EXPORT_DIED, AT_VIEW), result="crashed", summary="crashed")
    assert line(state(refused(), died, error=AT_ROWS), VIEW) == ""


def test_a_problem_that_is_silenced_is_not_compared() -> None:
    known = state(refused(), EXPORTS, verdict("compile", found(BREAK_AT_VALUE, AT_VIEW)), error=AT_ROWS)
    present = snapshot(TEXT, known)
    assert lines(present, ROWS)
    assert lines(present, VIEW)
    assert not lines(replace(present, policies={"": Policy(levels={ITERATION: "off"})}), ROWS)
    assert not lines(replace(present, policies={"": Policy(levels={"FX8": "off"})}), VIEW)


def test_an_operation_that_fails_anyway_is_not_compared() -> None:
    failing = Trace(TEXT).problem(OPERATION_FAILS, VIEW, "cannot view")
    known = state(failing, EXPORTS, verdict("compile", found(COMPILE_FAILS, AT_VIEW)))
    assert line(known, VIEW) == ""


def test_it_follows_the_expression_and_ends_with_an_older_trace() -> None:
    known = state(refused(), EXPORTS, error=AT_ROWS)
    moved = edited(snapshot(TEXT, known), "import torch\n", "import torch\n\n")
    assert lines(moved, ROWS) == []
    (fresh,) = snapshot(TEXT, known).models.values()
    moved = replace(moved, models={fresh.key: fresh})
    assert lines(moved, ROWS) == ["torch.fx: refused (FX102) · torch.export: taken"]


def test_models_that_differ_are_named() -> None:
    other = Trace(TEXT, "Other")
    breaks = verdict("compile", found(BREAK_AT_VALUE, AT_ROWS))
    present = snapshot(TEXT, state(refused(), EXPORTS, error=AT_ROWS), state(other, breaks))
    assert lines(present, ROWS) == [
        "Net: torch.fx: refused (FX102) · torch.export: taken",
        "Other: torch.fx: taken · torch.compile: graph break (FX801)",
    ]
    same = snapshot(TEXT, state(Trace(TEXT), breaks), state(other, breaks))
    assert lines(same, ROWS) == ["torch.fx: taken · torch.compile: graph break (FX801)"]


def test_it_is_below_the_advice_and_no_part_of_the_comment_to_copy() -> None:
    made = refused().node("rows", ROWS, tensor(2, 3))
    here = hover(snapshot(TEXT, state(made, EXPORTS, error=AT_ROWS)), PATH, AT_ROWS.line, AT_ROWS.end_column - 1)
    assert here is not None
    parts = here.text.plain.split("\n")
    assert [part.split(":")[0] for part in parts[1:3]] == ["FX102", "torch.fx"]
    assert "torch.fx" not in (here.comment or "")
    assert f"[{ITERATION}](" in here.text.markdown.split("\n\n")[2]
