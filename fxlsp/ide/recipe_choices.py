"""Recipes of a model: the one in use, the source of each, and the alternatives."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.model_status import states_of
from fxlsp.ide.trace_view.provenance import (
    INVENTED,
    found_recipe,
    is_recording_outdated,
    place_text,
    readable_recipe,
    recorded_text,
)
from fxlsp.report.recipes import Recipe, RecipeSource
from fxlsp.source.models.models import model_classes
from fxlsp.source.recipes.invented import has_invented_parts, shown
from fxlsp.source.recipes.recipes import FoundRecipe, unused_calls_of
from fxlsp.wire.frames import text_digest

_RECIPE_WIDTH = 80

_SOURCES: dict[RecipeSource, str] = {
    "comment": "comment",
    "config": "settings",
    "convention": "convention",
    "call-site": "call site",
    "default": "defaults",
    "search": "guess",
    "option": "command line",
    "recording": "recorded",
}


@dataclass(frozen=True, slots=True)
class RecipeChoice:
    """One of the recipes that files or settings have for a model."""

    id: str
    """Digest of the recipe, the same as long as the recipe is."""
    recipe: Recipe
    origin: str
    """Source and location: ``call site train.py:30``."""
    file: str
    """File that contains it; "" for the settings of an editor."""
    line: int
    in_use: bool
    """Whether the current trace uses it."""
    pinned: bool
    """Whether it is in use because the user chose it."""

    @property
    def text(self) -> str:
        """The recipe as one line."""
        return short_recipe(self.recipe)


def recipe_choices(snapshot: Snapshot, path: str, name: str) -> list[RecipeChoice]:
    """Return the recipes that can be chosen for a model, each once, the default first."""
    states = states_of(snapshot, path, name)
    used = [found for state in states if (found := _found_in_use(state)) is not None]
    pinned = any(state.pinned for state in states)
    choices: dict[str, RecipeChoice] = {}
    for found in states[0].found if states else ():
        if found.error is None:
            in_use = any(found.recipe == each.recipe for each in used)
            file = path if found.file is None else found.file
            origin = _origin(states[0], found.recipe)
            choice = RecipeChoice(
                recipe_id(found.recipe), found.recipe, origin, file, found.span.line, in_use, pinned and in_use
            )
            choices.setdefault(choice.id, choice)
    return list(choices.values())


def recipe_id(recipe: Recipe) -> str:
    """Return the identifier by which an editor refers to a recipe."""
    return text_digest(json.dumps(recipe.to_json(), sort_keys=True))[:16]


def recipe_in_use(snapshot: Snapshot, path: str, name: str) -> Recipe | None:
    """Return the recipe in use, completed with what the search found; None if unknown."""
    return next((recipe for state in states_of(snapshot, path, name) if (recipe := _in_use(state))), None)


def recipe_line(snapshot: Snapshot, path: str, name: str) -> str | None:
    """Return ``recipe: Net(16)(torch.randn(4, 8)) · call site train.py:30 · 1 of 3``.

    This is the text of a lens; None if there is no recipe to show.
    """
    states, choices = states_of(snapshot, path, name), recipe_choices(snapshot, path, name)
    state = next((state for state in states if _in_use(state) is not None), None)
    recipe = None if state is None else _in_use(state)
    if state is None or recipe is None:
        return _line_inside(states, choices)
    facts = [f"recipe: {short_recipe(recipe)}", _origin(state, recipe) + _former(state, recipe)]
    facts += [recipe.sizes_note] if recipe.sizes_note else []
    facts += [*_number(state, choices), *_outdated(state), *_unused_calls(snapshot, path, name, recipe)]
    return " · ".join([*facts, "chosen"] if state.pinned else facts)


def _unused_calls(snapshot: Snapshot, path: str, name: str, recipe: Recipe) -> list[str]:
    """Return why a model with guessed inputs is not fed as the file calls it: ``call on line 31 not used: ...``."""
    document = snapshot.documents.get(path)
    if recipe.source != "search" or document is None:
        return []
    models = [each for each in model_classes(document) if each.qualname == name]
    unused = [site for model in models for site in unused_calls_of(document, model)]
    return [f"call on line {unused[0].span.line} not used: {unused[0].reason}"] if unused else []


def _outdated(state: ModelState) -> list[str]:
    """Return that a recording of the model does not fit it any more."""
    errors = [found.error for found in state.found if found.recorded is not None and found.error is not None]
    is_in_use = state.report is not None and state.report.recipe.source == "recording"
    if errors and not is_in_use:
        return [errors[0]]
    is_outdated = state.report is not None and is_recording_outdated(state, state.report)
    return ["the recording is older than the code"] if is_outdated else []


def _former(state: ModelState, recipe: Recipe) -> str:
    """Return the inputs that a guess replaces, if an edit has changed what the model takes."""
    before = state.former_guess
    if before is None or before.inputs is None or recipe.source != "search":
        return ""
    return f", was {shown(before.inputs, recipe)}"


def _line_inside(states: Sequence[ModelState], choices: Sequence[RecipeChoice]) -> str | None:
    """Return the text for a class that the trace of another model covers.

    Returns None unless one of the recipes passes inputs to the class itself.
    """
    cover = next((state.covered_by for state in states if state.covered_by is not None), None)
    is_fed = any(choice.recipe.inputs is not None for choice in choices)
    return f"recipe: as {cover.name} uses it · {_others(choices)}" if cover is not None and is_fed else None


def _number(state: ModelState, choices: Sequence[RecipeChoice]) -> list[str]:
    """Return which of several recipes is in use."""
    found = _found_in_use(state)
    for number, each in enumerate(choices, 1):
        if found is not None and each.recipe == found.recipe:
            return [f"{number} of {len(choices)}"] if len(choices) > 1 else []
    return [_others(choices)] if choices else []


def _others(choices: Sequence[RecipeChoice]) -> str:
    return "1 other" if len(choices) == 1 else f"{len(choices)} others"


def short_recipe(recipe: Recipe) -> str:
    """Return the recipe as one expression on one line, cut off where it is long."""
    text = " ".join(readable_recipe(recipe).split())
    return text if len(text) <= _RECIPE_WIDTH else text[: _RECIPE_WIDTH - 1] + "…"


def _in_use(state: ModelState) -> Recipe | None:
    """Return the recipe that the shown report follows, or the chosen one.

    None while the trace of another model covers this one. After the user chose another recipe, that one counts and not
    the recipe of the last report.
    """
    chosen = state.key.recipe
    if state.covered_by is not None:
        return None
    if state.report is None or (chosen is not None and state.pinned and (state.busy or state.failure is not None)):
        return chosen if chosen is not None and chosen.init else None
    return state.report.recipe


def _found_in_use(state: ModelState) -> FoundRecipe | None:
    recipe = _in_use(state)
    return None if recipe is None else found_recipe(state, recipe)


def _origin(state: ModelState, recipe: Recipe) -> str:
    found = found_recipe(state, recipe)
    if found is not None and found.recorded is not None:
        return recorded_text(found.recorded)
    source = _SOURCES[recipe.source]
    if has_invented_parts(recipe):
        source = f"{source}, {INVENTED}"
    if found is None or found.file == "":
        return source
    place = place_text(state.key.file, found.file or state.key.file, found.span.line)
    return place if recipe.source == "config" else f"{source} {place}"
