"""Recipes that the user chose for models that have several."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from fxlsp.engine.index.index import Place
from fxlsp.engine.state.analysis import Analysis, Candidate, Guest
from fxlsp.report.recipes import Recipe
from fxlsp.source.recipes.recipes import FoundRecipe
from fxlsp.source.text.positions import Span

_NOWHERE = Span(0, 0, 0, 0)
"""Of a recipe that an earlier session found: lines mean nothing in the text of this one."""


@dataclass(frozen=True, slots=True)
class Pin:
    """The choice for one model."""

    recipe: Recipe
    known: tuple[FoundRecipe, ...]
    """What was found for the model when the recipe was last among it."""

    def to_json(self) -> dict[str, Any]:
        """The choice, and the comments that it counts before: what the next session needs to know."""
        comments = [each.recipe.to_json() for each in self.known if each.recipe.source == "comment"]
        return {"recipe": self.recipe.to_json(), "comments": comments}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Pin:
        """
        Raises:
            KeyError, TypeError: it was not written by :meth:`to_json`.
        """
        comments = [FoundRecipe(Recipe.from_json(each), _NOWHERE) for each in data["comments"]]
        return cls(Recipe.from_json(data["recipe"]), tuple(comments))


def with_pins(analysis: Analysis, pins: dict[Place, Pin]) -> Analysis:
    """The analysis with each chosen recipe in the place of those that would be tried otherwise.

    ``pins`` follow what has changed since the choice. One whose recipe is not found any more stays: it may come back.
    """
    path = analysis.document.path
    candidates = tuple(_pinned(candidate, Place(path, candidate.name), pins) for candidate in analysis.candidates)
    guests = tuple(_pinned_guest(guest, pins.get(Place(guest.path, guest.name))) for guest in analysis.guests)
    return replace(analysis, candidates=candidates, guests=guests)


def _pinned(candidate: Candidate, place: Place, pins: dict[Place, Pin]) -> Candidate:
    pin = pins.get(place)
    followed = None if pin is None else _followed(pin, candidate.found)
    if followed is None:
        pins.pop(place, None)
        return candidate
    pins[place] = followed
    if not _is_found(followed.recipe, candidate.found):
        return candidate
    # Whoever chose it wants to know if it fails, and to see it even if another trace runs the model too.
    return replace(candidate, recipes=(followed.recipe,), alternatives=(), asked=True, pinned=True)


def _followed(pin: Pin, found: tuple[FoundRecipe, ...]) -> Pin | None:
    """The choice after an edit; None if a comment was written since, which counts instead."""
    known = {each.recipe for each in pin.known}
    if pin.recipe.source != "comment" and any(
        each.recipe.source == "comment" and each.recipe not in known for each in found
    ):
        return None
    if _is_found(pin.recipe, found):
        return Pin(pin.recipe, found)
    places = {(each.file, each.span.line) for each in pin.known if each.recipe == pin.recipe}
    edited = (each for each in found if (each.file, each.span.line) in places and each.recipe not in known)
    return next((Pin(each.recipe, found) for each in edited if each.error is None), pin)


def _is_found(recipe: Recipe, found: Sequence[FoundRecipe]) -> bool:
    return any(each.recipe == recipe and each.error is None for each in found)


def _pinned_guest(guest: Guest, pin: Pin | None) -> Guest:
    if pin is None or not _is_found(pin.recipe, guest.found):
        return guest
    return replace(guest, recipe=pin.recipe, alternatives=())
