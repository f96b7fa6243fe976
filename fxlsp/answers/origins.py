"""Where the shapes that are shown come from: the model, its recipe, and whether they still hold."""

from __future__ import annotations

from fxlsp.answers.richtext import RichText, code, dotted, joined, words
from fxlsp.engine.store import ModelState, Status
from fxlsp.report.recipes import Recipe, RecipeSource
from fxlsp.report.report import Report

STALE = " (stale)"

_SOURCES: dict[RecipeSource, str] = {
    "comment": "from a comment",
    "config": "from pyproject.toml",
    "convention": "by convention",
    "call-site": "from a call site",
    "default": "from defaults",
    "search": "guessed",
    "option": "from the command line",
}


def is_stale(state: ModelState) -> bool:
    """The report holds for an earlier text."""
    return state.status is not Status.FRESH


def is_guessed(report: Report) -> bool:
    """Nobody wrote down how to make or feed the model."""
    return report.recipe.source == "search"


def origin_text(state: ModelState, report: Report) -> RichText:
    """``Net: Net(10)(torch.randn(1, 3)) from a call site on line 8 · train mode``."""
    source = _SOURCES[report.recipe.source] + _line(state, report.recipe)
    made = joined([code(recipe_text(report.recipe)), words(source)], " ")
    facts = [code(state.key.name) + words(": ") + made, words(f"{report.mode} mode")]
    if is_stale(state):
        facts.append(words("of an earlier text"))
    return dotted(facts)


def _line(state: ModelState, recipe: Recipe) -> str:
    """Where the model's file says it, if it does."""
    lines = [found.span.line for found in state.found if found.recipe == recipe]
    return f" on line {lines[0]}" if lines else ""


def recipe_text(recipe: Recipe) -> str:
    """The recipe as one Python expression."""
    if recipe.inputs is None:
        return recipe.init
    return f"{recipe.init}({recipe.inputs})"
