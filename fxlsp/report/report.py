"""Report of one trace, as ``fxlsp trace --format json`` prints it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .frontends import FrontendVerdict
from .graph import Module, ModuleCall, Node, Verdict
from .problems import SCHEMA, Problem
from .recipes import Recipe
from .serialization import UNLESS_DEFAULT, JsonObject, fields_to_json


@dataclass(frozen=True, slots=True)
class Environment(JsonObject):
    """Versions of the interpreter that traced and of its torch.

    Example: ``{"python": "3.11.7", "torch": "2.15.0"}``.
    """

    python: str
    torch: str


@dataclass(frozen=True, slots=True)
class Report(JsonObject):
    """Complete result of one trace of one model."""

    target: str
    environment: Environment
    recipe: Recipe
    mode: Literal["train", "eval"]
    verdict: Verdict
    complete: bool
    """Whether every operation is a node with a location and a known output, and none is opaque."""
    opaque: int
    nodes: tuple[Node, ...]
    modules: tuple[Module, ...]
    calls: tuple[ModuleCall, ...]
    problems: tuple[Problem, ...]
    timing_ms: dict[str, float]
    symbols: Mapping[str, int | None] = field(default_factory=dict, metadata=UNLESS_DEFAULT)
    """Values of the symbols in ``symbolic`` of the outputs (addition); None for a size that depends on data."""
    frontends: tuple[FrontendVerdict, ...] = field(default=(), metadata=UNLESS_DEFAULT)
    """Verdicts of the front ends that were asked for (addition), in that order."""

    def to_json(self) -> dict[str, Any]:
        """Return the object that ``trace --format json`` prints."""
        return {"schema": SCHEMA, **fields_to_json(self)}
