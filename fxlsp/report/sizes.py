"""The sizes that somebody wants to see where nothing says how large an input is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Sizes:
    """None leaves a size to the search."""

    batch: int | None = None
    image: int | None = None
    """Edge of an image."""
    sequence: int | None = None
    """Length of a sequence."""

    def to_json(self) -> dict[str, Any]:
        return {"batch": self.batch, "image": self.image, "sequence": self.sequence}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Sizes:
        return cls(data["batch"], data["image"], data["sequence"])


ANY_SIZES = Sizes()
