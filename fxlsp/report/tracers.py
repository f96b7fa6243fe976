"""The choice of a tracer: which subclass of ``torch.fx.Tracer``, what it does not look into, what it records whole."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .places import Location, location_or_none


@dataclass(frozen=True, slots=True)
class Named:
    """A class or function of the user's by its name, and where that is written."""

    text: str
    """``package.module:Name`` or ``/absolute/path.py:Name``."""
    place: Location | None = field(default=None, compare=False)
    """In ``pyproject.toml``; None where the editor or the command line says it."""

    def to_json(self) -> dict[str, Any]:
        return {"text": self.text, "place": None if self.place is None else self.place.to_json()}

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Named:
        return cls(data["text"], location_or_none(data["place"]))


@dataclass(frozen=True, slots=True)
class TracerChoice:
    """What the user says about how models are traced; by default ``torch.fx.Tracer`` does it."""

    tracer: Named | None = None
    """A subclass of ``torch.fx.Tracer``."""
    leaf_modules: tuple[str, ...] = ()
    """Patterns, as of ``fnmatch``, of qualified names of module classes that are not looked into."""
    wrap: tuple[Named, ...] = ()
    """Functions that become one node, as ``torch.fx.wrap`` makes them."""

    def to_json(self) -> dict[str, Any]:
        return {
            "tracer": None if self.tracer is None else self.tracer.to_json(),
            "leaf_modules": list(self.leaf_modules),
            "wrap": [function.to_json() for function in self.wrap],
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> TracerChoice:
        return cls(
            None if data["tracer"] is None else Named.from_json(data["tracer"]),
            tuple(data["leaf_modules"]),
            tuple(Named.from_json(function) for function in data["wrap"]),
        )


TORCH_FX = TracerChoice()
"""What there is without a choice."""
