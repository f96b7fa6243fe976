"""How a model is made and fed."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

RecipeSource = Literal["comment", "config", "convention", "call-site", "default", "search", "option"]


@dataclass(frozen=True, slots=True)
class Recipe:
    """Two Python texts, evaluated in the target's module with ``torch`` at hand (contract: ``recipe``)."""

    init: str
    """The expression that makes the model (``Net(10, hidden=128)``); "" where it is not known."""
    inputs: str | None
    """The arguments of its call (``torch.randn(1, 3, 32, 32), mask=None``); None where they are not known."""
    source: RecipeSource

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Recipe:
        return cls(data["init"], data["inputs"], data["source"])
