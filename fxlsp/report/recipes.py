"""How a model is made and fed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .serialization import UNLESS_DEFAULT, JsonObject

RecipeSource = Literal["comment", "config", "convention", "call-site", "default", "search", "option"]


@dataclass(frozen=True, slots=True)
class Recipe(JsonObject):
    """Two Python texts, evaluated in the target's module with ``torch`` at hand (contract: ``recipe``)."""

    init: str
    """The expression that makes the model (``Net(10, hidden=128)``); "" where it is not known."""
    inputs: str | None
    """The arguments of its call (``torch.randn(1, 3, 32, 32), mask=None``); None where they are not known."""
    source: RecipeSource
    file: str | None = field(default=None, metadata=UNLESS_DEFAULT)
    """The file whose names the texts use, where that is not the target's own: real and absolute."""
