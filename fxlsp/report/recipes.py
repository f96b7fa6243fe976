"""How a model is made and fed."""

from __future__ import annotations

from dataclasses import dataclass
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
    file: str | None = None
    """The file whose names the texts use, where that is not the target's own: real and absolute."""

    def to_json(self) -> dict[str, Any]:
        data = {"init": self.init, "inputs": self.inputs, "source": self.source}
        return data if self.file is None else {**data, "file": self.file}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Recipe:
        return cls(data["init"], data["inputs"], data["source"], data.get("file"))
