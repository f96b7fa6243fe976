"""Recipe of a model: how to construct and call it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .serialization import UNLESS_DEFAULT, JsonObject

RecipeSource = Literal["comment", "config", "convention", "call-site", "default", "search", "option", "recording"]


@dataclass(frozen=True, slots=True)
class Recipe(JsonObject):
    """Python source of a model's construction and of its inputs.

    Both texts are evaluated in the namespace of the target's module, with ``torch`` available. Contract: ``recipe``.
    """

    init: str
    """Expression that constructs the model (``Net(10, hidden=128)``); "" if unknown."""
    inputs: str | None
    """Arguments of the model's call (``torch.randn(1, 3, 32, 32), mask=None``); None if unknown."""
    source: RecipeSource
    file: str | None = field(default=None, metadata=UNLESS_DEFAULT)
    """Real absolute path of the file whose names the texts use, if it is not the target's own file."""
    sizes_note: str = field(default="", metadata=UNLESS_DEFAULT)
    """Which preferred sizes guessed inputs do not have, since the model does not run with them; "" if none."""
