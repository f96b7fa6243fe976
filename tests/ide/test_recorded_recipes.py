"""What an editor shows of recipes that a run has recorded."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.hover.hover import hover
from fxlsp.ide.problems import problems
from fxlsp.ide.recipe_choices import recipe_choices, recipe_line
from fxlsp.ide.trace_view.provenance import provenance_text
from fxlsp.report.recipes import Recipe
from fxlsp.source.recipes.recipes import FoundRecipe, RecordedRun
from fxlsp.source.text.positions import Span
from tests.ide.builder import PATH, snapshot
from tests.ide.nets import TEXT, trace

RUN = RecordedRun("train.py", datetime(2026, 3, 4, 14, 2).timestamp())
FIRST = FoundRecipe(Recipe("Net()", "x", "recording"), Span(11, 7, 11, 10), None, recorded=RUN)
SECOND = replace(FIRST, recipe=Recipe("Net()", "y", "recording"))
CALL_SITE = FoundRecipe(Recipe("Net()", "z", "call-site"), Span(3, 1, 3, 9))
SAID = "recorded: train.py, 2026-03-04 14:02"


def state(used: Recipe, *found: FoundRecipe) -> ModelState:
    made = trace()
    made.recipe = used
    return replace(made.state(), found=found)


def test_lens_hover_and_picker_name_the_run() -> None:
    shown = snapshot(TEXT, state(FIRST.recipe, FIRST, SECOND, CALL_SITE))
    assert recipe_line(shown, PATH, "Net") == f"recipe: Net()(x) · {SAID} · 1 of 3"
    assert [each.origin for each in recipe_choices(shown, PATH, "Net")] == [SAID, SAID, "call site net.py:3"]
    (model,) = shown.models.values()
    assert model.report is not None
    assert SAID in provenance_text(model, model.report).plain


def test_a_recording_that_does_not_fit_is_reported_as_older_than_the_code() -> None:
    reason = "the recording is older than the code: __init__ has no parameter width"
    shown = snapshot(TEXT, state(CALL_SITE.recipe, replace(FIRST, error=reason), CALL_SITE))
    assert recipe_line(shown, PATH, "Net") == f"recipe: Net()(z) · call site net.py:3 · {reason}"
    assert [each.origin for each in recipe_choices(shown, PATH, "Net")] == ["call site net.py:3"]
    (problem,) = [each for each in problems(shown, PATH) if each.message == reason]
    assert problem.severity == "hint"


def test_a_recorded_recipe_that_makes_no_model_any_more_is_reported_as_older_than_the_code() -> None:
    model = state(CALL_SITE.recipe, FIRST, CALL_SITE)
    model = replace(model, key=replace(model.key, recipe=FIRST.recipe))
    line = recipe_line(snapshot(TEXT, model), PATH, "Net")
    assert line == "recipe: Net()(z) · call site net.py:3 · 2 of 2 · the recording is older than the code"


def hovered(shown: Snapshot, text: str, line: int) -> list[str]:
    """Return the lines of the hover at a text on a line."""
    found = hover(shown, PATH, line, TEXT.splitlines()[line - 1].index(text) + 1)
    assert found is not None
    return found.text.plain.splitlines()


@pytest.mark.parametrize(("text", "line"), [("Net", 11), ("forward", 12)])
def test_the_hover_of_a_class_and_of_its_forward_lists_every_recorded_call_with_its_line(text: str, line: int) -> None:
    called = replace(SECOND, span=Span(31, 1, 31, 1), file="/project/train.py")
    old = replace(FIRST, recipe=Recipe("Net()", "z", "recording"), error="the recording is older than the code: …")
    lines = hovered(snapshot(TEXT, state(FIRST.recipe, FIRST, called, old, CALL_SITE)), text, line)
    assert [each for each in lines if SAID in each][-3:] == [
        f"▸ Net()(x) · {SAID}",
        f"Net()(y) · {SAID} · train.py:31",
        f"Net()(z) · {SAID} · older than the code",
    ]


def test_of_many_recorded_calls_the_first_are_listed() -> None:
    many = [replace(FIRST, recipe=Recipe("Net()", f"x{number}", "recording")) for number in range(9)]
    lines = hovered(snapshot(TEXT, state(many[0].recipe, *many)), "Net", 11)
    assert "and 3 more recorded calls" in lines


@pytest.mark.parametrize(("text", "line"), [("Net", 11), ("forward", 12)])
def test_the_hover_of_a_guessed_model_says_that_a_run_knows_its_inputs(text: str, line: int) -> None:
    said = "Guessed; record a run to know: fxlsp record -- python train.py"
    assert said in hovered(snapshot(TEXT, state(Recipe("Net()", "x", "search"))), text, line)
    assert said not in hovered(snapshot(TEXT, state(CALL_SITE.recipe, CALL_SITE)), text, line)
