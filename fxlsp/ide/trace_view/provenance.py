"""Provenance of shapes: the model, its recipe, and whether the report is current."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime

from fxlsp.engine.state.snapshot import ModelState
from fxlsp.ide.render.numbers import counted
from fxlsp.ide.render.rich_text import RichText, code, dotted, joined, words
from fxlsp.report.recipes import Recipe, RecipeSource
from fxlsp.report.report import Report
from fxlsp.source.recipes.invented import has_invented_parts, shown
from fxlsp.source.recipes.recipes import FoundRecipe, RecordedRun, find_written
from fxlsp.source.text.notebooks.ipynb import is_notebook

STALE = " (stale)"
INVENTED = "… is invented"
"""What is added where a recipe has parts that a search made up."""

_SOURCES: dict[RecipeSource, str] = {
    "comment": "from a comment",
    "config": "from the settings",
    "convention": "by convention",
    "call-site": "from a call site",
    "default": "from defaults",
    "search": "guessed",
    "option": "from the command line",
    "recording": "recorded",
}


_SHOWN = 2
"""Number of models whose provenance is shown in full."""

_IMPORT = re.compile(r"""__import__\((['"])[\w.]+\1(?:, fromlist=\[[^\]]*\])?\)\.""")
"""An import as :func:`fxlsp.source.python.imports.import_expression` writes it."""


def is_guessed(report: Report) -> bool:
    """Return whether the recipe was found by search and is stated nowhere."""
    return report.recipe.source == "search"


def provenance_text(state: ModelState, report: Report) -> RichText:
    """Return ``Net: Net(10)(torch.randn(1, 3)) from a comment on line 8 · train mode``."""
    made = joined([code(readable_recipe(report.recipe)), words(_source(state, report.recipe))], " ")
    facts = [code(state.key.name) + words(": ") + made, words(f"{report.mode} mode")]
    if state.is_stale:
        facts.append(words("of an earlier text"))
    return dotted(facts)


def provenance_lines(states: Iterable[ModelState]) -> list[RichText]:
    """Return a line for each model once; of many the first two and how many more."""
    known = {id(state): (state, state.report) for state in states if state.report is not None}
    pairs = list(known.values())
    lines = [provenance_text(state, report) for state, report in pairs[:_SHOWN]]
    if len(pairs) > _SHOWN:
        lines.append(words(f"and {counted(len(pairs) - _SHOWN, 'more trace')}"))
    return lines


def _source(state: ModelState, recipe: Recipe) -> str:
    """Return the recipe's source, and the location if the recipe is written somewhere."""
    found = found_recipe(state, recipe)
    if found is not None and found.recorded is not None:
        return recorded_text(found.recorded)
    place = None if found is None else _place_in_other_file(state, found)
    if recipe.source == "config" and place is not None:
        return f"from {place}"
    where = f" in {place}" if place is not None else ""
    if found is not None and found.file is None:
        where = " in this notebook" if is_notebook(state.key.file) else f" on line {found.span.line}"
    invented = f", {INVENTED}" if has_invented_parts(recipe) else ""
    return _SOURCES[recipe.source] + where + invented


def found_recipe(state: ModelState, recipe: Recipe) -> FoundRecipe | None:
    """Return the written recipe that a trace followed.

    Its inputs may have been found otherwise.
    """
    return find_written(state.found, recipe)


def _place_in_other_file(state: ModelState, found: FoundRecipe) -> str | None:
    """Return ``tests/test_net.py:12`` for a recipe in another file than the model's.

    The path is relative to the folder that contains both files.
    """
    if not found.file:
        return None
    return place_text(state.key.file, found.file, found.span.line)


def place_text(from_file: str, file: str, line: int) -> str:
    """Return a line of a file, as seen from another file."""
    folder = os.path.commonpath([os.path.dirname(from_file), os.path.dirname(file)])
    path = os.path.relpath(file, folder)
    # The lines of a notebook are those of its cells, and not every editor reports all cells: line numbers would
    # mislead.
    return path if is_notebook(path) else f"{path}:{line}"


def recipe_text(recipe: Recipe) -> str:
    """Return the recipe as one Python expression."""
    if recipe.inputs is None:
        return recipe.init
    return f"{recipe.init}({recipe.inputs})"


def readable_recipe(recipe: Recipe) -> str:
    """Return the recipe with only the names of what it imports, and ``…`` for parts that a search made up.

    This is for people; Python could not evaluate it.
    """
    init = shown(recipe.init, recipe)
    inputs = None if recipe.inputs is None else shown(recipe.inputs, recipe)
    return _IMPORT.sub("", recipe_text(replace(recipe, init=init, inputs=inputs)))


def recorded_text(run: RecordedRun, now: float | None = None) -> str:
    """Return ``recorded: train.py, today 14:02``.

    Args:
        now: seconds since the epoch; None is the present time.
    """
    then = datetime.fromtimestamp(run.time)
    today = datetime.fromtimestamp(time.time() if now is None else now).date()
    days = (today - then.date()).days
    day = {0: "today", 1: "yesterday"}.get(days, then.date().isoformat())
    return f"recorded: {run.source}, {day} {then:%H:%M}"


def is_recording_outdated(state: ModelState, report: Report) -> bool:
    """Return whether the first recipe that was tried is a recorded one with which the model cannot be made any more."""
    first = state.key.recipe
    return first is not None and first.source == "recording" and report.recipe.source != "recording"


def source_text(recipe: Recipe) -> str:
    """Return where a recipe comes from, in the text of the command line: ``found by search``."""
    if recipe.source == "recording":
        return _SOURCES[recipe.source]
    if recipe.source != "search":
        return recipe.source
    facts = ["found by search", *([INVENTED] if has_invented_parts(recipe) else []), recipe.sizes_note]
    return ", ".join(fact for fact in facts if fact)
