"""Recipes that the user chose for models that have several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fxlsp.engine.index.index import SymbolId
from fxlsp.engine.state.analysis import Analysis, Candidate, ContextModel
from fxlsp.report.recipes import Recipe
from fxlsp.source.recipes.recipes import FoundRecipe
from fxlsp.source.text.positions import Span

_NOWHERE = Span(0, 0, 0, 0)
"""Of a recipe that an earlier session found: lines mean nothing in the text of this one."""


@dataclass(frozen=True, slots=True)
class PinnedRecipe:
    """The choice for one model."""

    recipe: Recipe
    known: tuple[FoundRecipe, ...]
    """What was found for the model when the recipe was last among it."""

    def to_json(self) -> dict[str, Any]:
        """The choice, and the comments that it counts before: what the next session needs to know."""
        comments = [each.recipe.to_json() for each in self.known if each.recipe.source == "comment"]
        return {"recipe": self.recipe.to_json(), "comments": comments}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> PinnedRecipe:
        """
        Raises:
            KeyError, TypeError: it was not written by :meth:`to_json`.
        """
        comments = [FoundRecipe(Recipe.from_json(each), _NOWHERE) for each in data["comments"]]
        return cls(Recipe.from_json(data["recipe"]), tuple(comments))


def apply_pinned_recipes(analysis: Analysis, pinned_recipes: dict[SymbolId, PinnedRecipe]) -> Analysis:
    """The analysis with each chosen recipe in the place of those that would be tried otherwise.

    ``pinned_recipes`` follow what has changed since the choice. One whose recipe is not found any more stays: it may
    come back.
    """
    path = analysis.document.path
    candidates = tuple(
        _pinned(candidate, SymbolId(path, candidate.name), pinned_recipes) for candidate in analysis.candidates
    )
    context_models = tuple(
        _with_pinned_recipe(model, pinned_recipes.get(SymbolId(model.path, model.name)))
        for model in analysis.context_models
    )
    return replace(analysis, candidates=candidates, context_models=context_models)


def _pinned(candidate: Candidate, symbol: SymbolId, pinned_recipes: dict[SymbolId, PinnedRecipe]) -> Candidate:
    pinned_recipe = pinned_recipes.get(symbol)
    followed = None if pinned_recipe is None else _followed(pinned_recipe, candidate.found)
    if followed is None:
        pinned_recipes.pop(symbol, None)
        return candidate
    pinned_recipes[symbol] = followed
    if not _is_found(followed.recipe, candidate.found):
        return candidate
    # Whoever chose it wants to know if it fails, and to see it even if another trace runs the model too.
    return replace(candidate, recipes=(followed.recipe,), alternatives=(), requested=True, pinned=True)


def _followed(pinned_recipe: PinnedRecipe, found: tuple[FoundRecipe, ...]) -> PinnedRecipe | None:
    """The choice after an edit; None if a comment was written since, which counts instead."""
    known = {each.recipe for each in pinned_recipe.known}
    if pinned_recipe.recipe.source != "comment" and any(
        each.recipe.source == "comment" and each.recipe not in known for each in found
    ):
        return None
    if _is_found(pinned_recipe.recipe, found):
        return PinnedRecipe(pinned_recipe.recipe, found)
    places = {(each.file, each.span.line) for each in pinned_recipe.known if each.recipe == pinned_recipe.recipe}
    edited = (each for each in found if (each.file, each.span.line) in places and each.recipe not in known)
    return next((PinnedRecipe(each.recipe, found) for each in edited if each.error is None), pinned_recipe)


def _is_found(recipe: Recipe, found: Sequence[FoundRecipe]) -> bool:
    return any(each.recipe == recipe and each.error is None for each in found)


def _with_pinned_recipe(model: ContextModel, pinned_recipe: PinnedRecipe | None) -> ContextModel:
    if pinned_recipe is None or not _is_found(pinned_recipe.recipe, model.found):
        return model
    return replace(model, recipe=pinned_recipe.recipe, alternatives=())
