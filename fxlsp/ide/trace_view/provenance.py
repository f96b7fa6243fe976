"""Where the shapes that are shown come from: the model, its recipe, and whether they still hold."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from fxlsp.engine.state.snapshot import ModelState, Status
from fxlsp.ide.render.numbers import counted
from fxlsp.ide.render.rich_text import RichText, code, dotted, joined, words
from fxlsp.report.recipes import Recipe, RecipeSource
from fxlsp.report.report import Report
from fxlsp.source.recipes.recipes import FoundRecipe, find_written
from fxlsp.source.text.notebooks.ipynb import is_notebook

STALE = " (stale)"

_SOURCES: dict[RecipeSource, str] = {
    "comment": "from a comment",
    "config": "from the settings",
    "convention": "by convention",
    "call-site": "from a call site",
    "default": "from defaults",
    "search": "guessed",
    "option": "from the command line",
}


_SHOWN = 2
"""Of how many models it is told where their shapes come from."""

_IMPORT = re.compile(r"""__import__\((['"])[\w.]+\1(?:, fromlist=\[[^\]]*\])?\)\.""")
"""As :func:`fxlsp.source.python.imports.import_expression` writes it."""


def is_stale(state: ModelState) -> bool:
    """The report holds for an earlier text."""
    return state.status is not Status.FRESH


def is_guessed(report: Report) -> bool:
    """Nobody wrote down how to make or feed the model."""
    return report.recipe.source == "search"


def origin_text(state: ModelState, report: Report) -> RichText:
    """``Net: Net(10)(torch.randn(1, 3)) from a call site on line 8 · train mode``."""
    made = joined([code(readable_recipe(report.recipe)), words(_source(state, report.recipe))], " ")
    facts = [code(state.key.name) + words(": ") + made, words(f"{report.mode} mode")]
    if is_stale(state):
        facts.append(words("of an earlier text"))
    return dotted(facts)


def origins_of(states: Iterable[ModelState]) -> list[RichText]:
    """A line for each of the models, once; of many the first two, and how many more there are."""
    known = {id(state): (state, state.report) for state in states if state.report is not None}
    pairs = list(known.values())
    lines = [origin_text(state, report) for state, report in pairs[:_SHOWN]]
    if len(pairs) > _SHOWN:
        lines.append(words(f"and {counted(len(pairs) - _SHOWN, 'more trace')}"))
    return lines


def _source(state: ModelState, recipe: Recipe) -> str:
    """Where it is written, if it is."""
    found = found_recipe(state, recipe)
    place = None if found is None else place_elsewhere(state, found)
    if recipe.source == "config" and place is not None:
        return f"from {place}"
    where = f" in {place}" if place is not None else ""
    if found is not None and found.file is None:
        where = " in this notebook" if is_notebook(state.key.file) else f" on line {found.span.line}"
    return _SOURCES[recipe.source] + where


def found_recipe(state: ModelState, recipe: Recipe) -> FoundRecipe | None:
    """What is written that a trace followed, perhaps with inputs that were found otherwise."""
    return find_written(state.found, recipe)


def place_elsewhere(state: ModelState, found: FoundRecipe) -> str | None:
    """``tests/test_net.py:12`` for what another file than the model's says; its path from the folder of both."""
    if not found.file:
        return None
    return place_words(state.key.file, found.file, found.span.line)


def place_words(home: str, file: str, line: int) -> str:
    """A line of a file, as seen from the file ``home``."""
    folder = os.path.commonpath([os.path.dirname(home), os.path.dirname(file)])
    path = os.path.relpath(file, folder)
    # Its lines are those of its cells, and not every editor tells of all of them: their numbers would mislead.
    return path if is_notebook(path) else f"{path}:{line}"


def recipe_text(recipe: Recipe) -> str:
    """The recipe as one Python expression."""
    if recipe.inputs is None:
        return recipe.init
    return f"{recipe.init}({recipe.inputs})"


def readable_recipe(recipe: Recipe) -> str:
    """The recipe with the mere names of what it imports: for people, not for Python."""
    return _IMPORT.sub("", recipe_text(recipe))
