"""Preferred sizes of inputs that a trace has to guess."""

from __future__ import annotations

from dataclasses import dataclass

from .serialization import JsonObject


@dataclass(frozen=True, slots=True)
class Sizes(JsonObject):
    """Preferred sizes of guessed inputs; None leaves a size to the search."""

    batch: int | None = None
    image: int | None = None
    """Height and width of an image, pixels."""
    sequence: int | None = None
    """Length of a sequence, elements."""


ANY_SIZES = Sizes()
