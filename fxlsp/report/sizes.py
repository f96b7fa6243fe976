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

    @property
    def all(self) -> frozenset[int]:
        """Return those that are preferred."""
        return frozenset(size for size in (self.batch, self.image, self.sequence) if size is not None)


ANY_SIZES = Sizes()
