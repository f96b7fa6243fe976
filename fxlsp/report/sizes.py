"""The sizes that somebody wants to see where nothing says how large an input is."""

from __future__ import annotations

from dataclasses import dataclass

from .serialization import JsonObject


@dataclass(frozen=True, slots=True)
class Sizes(JsonObject):
    """None leaves a size to the search."""

    batch: int | None = None
    image: int | None = None
    """Edge of an image."""
    sequence: int | None = None
    """Length of a sequence."""


ANY_SIZES = Sizes()
