"""What an editor shows of recipes that a run has recorded."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from fxlsp.engine.state.snapshot import ModelState
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
