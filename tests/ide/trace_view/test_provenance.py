"""What is said of where a recipe comes from."""

from __future__ import annotations

from datetime import datetime

import pytest

from fxlsp.ide.trace_view.provenance import readable_recipe, recorded_text
from fxlsp.report.recipes import Recipe
from fxlsp.source.recipes.recipes import RecordedRun


@pytest.mark.parametrize(
    ("init", "read"),
    [
        ("Net(__import__('pkg.parts', fromlist=['Part']).Part(3))", "Net(Part(3))(x)"),
        ("Net(__import__('types').SimpleNamespace(width=3))", "Net(SimpleNamespace(width=3))(x)"),
        ("Net('__import__')", "Net('__import__')(x)"),
    ],
)
def test_names_are_read_without_the_import_that_brings_them(init: str, read: str) -> None:
    assert readable_recipe(Recipe(init, "x", "call-site")) == read


@pytest.mark.parametrize(
    ("day", "said"), [(25, "today 14:02"), (24, "yesterday 14:02"), (3, "2026-11-03 14:02"), (30, "2026-11-30 14:02")]
)
def test_a_recorded_run_is_named_with_its_time(day: int, said: str) -> None:
    run = RecordedRun("train.py", datetime(2026, 11, day, 14, 2).timestamp())
    assert recorded_text(run, datetime(2026, 11, 25, 23, 0).timestamp()) == f"recorded: train.py, {said}"
