"""Pinned recipes: those that the user chose for models that have several."""

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
"""Span of a recipe that an earlier session found: its lines mean nothing in the present text."""


@dataclass(frozen=True, slots=True)
class PinnedRecipe:
    """Recipe that the user chose for one model."""

    recipe: Recipe
    known: tuple[FoundRecipe, ...]
    """All recipes of the model when this one was last found among them."""

    def to_json(self) -> dict[str, Any]:
        """Return the recipe and the comments known at the time of the choice, as JSON.

        A comment that is not among them has precedence over the choice, in the next session too.
        """
        comments = [each.recipe.to_json() for each in self.known if each.recipe.source == "comment"]
        return {"recipe": self.recipe.to_json(), "comments": comments}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> PinnedRecipe:
        """Return the choice that :meth:`to_json` returned.

        Raises:
            KeyError, TypeError: the data is not such a choice.
        """
        comments = [FoundRecipe(Recipe.from_json(each), _NOWHERE) for each in data["comments"]]
        return cls(Recipe.from_json(data["recipe"]), tuple(comments))


def apply_pinned_recipes(analysis: Analysis, pinned_recipes: dict[SymbolId, PinnedRecipe]) -> Analysis:
    """Return the analysis with each chosen recipe in place of those it would try.

    Args:
        pinned_recipes: choices by model, updated for recipes that were edited. A choice whose recipe is not found any
            more stays, for it may come back.
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
    # The user wants to see this recipe fail, and its trace even if another trace covers the model.
    return replace(candidate, recipes=(followed.recipe,), alternatives=(), requested=True, pinned=True)


def _followed(pinned_recipe: PinnedRecipe, found: tuple[FoundRecipe, ...]) -> PinnedRecipe | None:
    """Return the choice after an edit; None if a newer comment replaces it."""
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
