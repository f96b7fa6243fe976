"""The choice of a tracer: which subclass of ``torch.fx.Tracer``, what it does not look into, what it records whole."""

from __future__ import annotations

from dataclasses import dataclass, field

from .locations import Location
from .serialization import JsonObject


@dataclass(frozen=True, slots=True)
class ObjectReference(JsonObject):
    """A class or function of the user's by its name, and where that is written."""

    text: str
    """``package.module:Name`` or ``/absolute/path.py:Name``."""
    place: Location | None = field(default=None, compare=False)
    """In ``pyproject.toml``; None where the editor or the command line says it."""


@dataclass(frozen=True, slots=True)
class TracerChoice(JsonObject):
    """What the user says about how models are traced; by default ``torch.fx.Tracer`` does it."""

    tracer: ObjectReference | None = None
    """A subclass of ``torch.fx.Tracer``."""
    leaf_modules: tuple[str, ...] = ()
    """Patterns, as of ``fnmatch``, of qualified names of module classes that are not looked into."""
    wrap: tuple[ObjectReference, ...] = ()
    """Functions that become one node, as ``torch.fx.wrap`` makes them."""


TORCH_FX = TracerChoice()
"""What there is without a choice."""
