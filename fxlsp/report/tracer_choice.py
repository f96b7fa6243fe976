"""User's choice of a tracer, its leaf modules and its wrapped functions."""

from __future__ import annotations

from dataclasses import dataclass, field

from .locations import Location
from .serialization import JsonObject


@dataclass(frozen=True, slots=True)
class ObjectReference(JsonObject):
    """Name of a class or function of the user, with the location of that name."""

    text: str
    """``package.module:Name`` or ``/absolute/path.py:Name``."""
    place: Location | None = field(default=None, compare=False)
    """Location of the name in ``pyproject.toml``; None if it comes from the editor or the command line."""


@dataclass(frozen=True, slots=True)
class TracerChoice(JsonObject):
    """Settings of how models are traced; by default with ``torch.fx.Tracer``."""

    tracer: ObjectReference | None = None
    """Subclass of ``torch.fx.Tracer``."""
    leaf_modules: tuple[str, ...] = ()
    """``fnmatch`` patterns for the qualified names of module classes that are leaves."""
    wrap: tuple[ObjectReference, ...] = ()
    """Functions that become one node, as with ``torch.fx.wrap``."""


TORCH_FX = TracerChoice()
"""Default choice: plain ``torch.fx.Tracer``."""
