"""The result of one trace, as ``fxlsp trace --format json`` prints it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from .graph import Module, ModuleCall, Node, Verdict
from .problems import SCHEMA, Problem
from .recipes import Recipe


@dataclass(frozen=True, slots=True)
class Environment:
    """Versions of the interpreter that traced: ``{"python": "3.11.7", "torch": "2.15.0"}``."""

    python: str
    torch: str

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Environment:
        return cls(data["python"], data["torch"])


@dataclass(frozen=True, slots=True)
class Report:
    """Everything one trace found out about one model."""

    target: str
    environment: Environment
    recipe: Recipe
    mode: Literal["train", "eval"]
    verdict: Verdict
    complete: bool
    """Every operation of the run is a node with a location and a known output, none opaque."""
    opaque: int
    nodes: tuple[Node, ...]
    modules: tuple[Module, ...]
    calls: tuple[ModuleCall, ...]
    problems: tuple[Problem, ...]
    timing_ms: dict[str, float]

    def to_json(self) -> dict[str, Any]:
        return {
            "schema": SCHEMA,
            "target": self.target,
            "environment": self.environment.to_json(),
            "recipe": self.recipe.to_json(),
            "mode": self.mode,
            "verdict": self.verdict.to_json(),
            "complete": self.complete,
            "opaque": self.opaque,
            "nodes": [node.to_json() for node in self.nodes],
            "modules": [module.to_json() for module in self.modules],
            "calls": [call.to_json() for call in self.calls],
            "problems": [problem.to_json() for problem in self.problems],
            "timing_ms": self.timing_ms,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Report:
        return cls(
            data["target"],
            Environment.from_json(data["environment"]),
            Recipe.from_json(data["recipe"]),
            data["mode"],
            Verdict.from_json(data["verdict"]),
            data["complete"],
            data["opaque"],
            tuple(Node.from_json(node) for node in data["nodes"]),
            tuple(Module.from_json(module) for module in data["modules"]),
            tuple(ModuleCall.from_json(call) for call in data["calls"]),
            tuple(Problem.from_json(problem) for problem in data["problems"]),
            data["timing_ms"],
        )
