"""Verdicts on one model by the ways into PyTorch's compilers: torch.fx, torch.export and torch.compile."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from .locations import Location
from .serialization import UNLESS_DEFAULT, JsonObject

OtherFrontend = Literal["export", "compile"]
FrontendName = Literal["fx"] | OtherFrontend
FrontendResult = Literal["ok", "problem", "unavailable", "crashed", "timeout", "limit"]


@dataclass(frozen=True, slots=True)
class FrontendProblem(JsonObject):
    """Reason why a front end refuses a model or splits it, in torch's own words."""

    headline: str
    """First sentence of the message."""
    message: str
    location: Location | None
    """The expression where it is known, else the code of its line; None if torch names none of the user's."""
    code: str | None = None
    """Problem code: ``FX801``. None where the front end is not available or could not be asked."""
    graph_break: str | None = None
    """Number of a graph break in torch's registry: ``GB0170``."""
    link: str | None = None
    """Page that the message names, the one of the graph break if it names that."""
    words: str = field(default="", metadata=UNLESS_DEFAULT)
    """The message without stacks and context of torch itself; empty if it has none."""
    is_of_machine: bool = field(default=False, metadata=UNLESS_DEFAULT)
    """Whether what this machine lacks, or what fxlsp keeps from a model, may be the reason."""


@dataclass(frozen=True, slots=True)
class FrontendVerdict(JsonObject):
    """Verdict of one front end."""

    frontend: FrontendName
    verdict: FrontendResult
    """``unavailable`` if the front end could not be asked. If its process ended first: ``crashed``, or ``timeout`` or
    ``limit`` if it was ended at the limit of time or at another one."""
    summary: str
    """The verdict in words: ``2 graph breaks``."""
    problems: tuple[FrontendProblem, ...] = ()
    batch: Literal["dynamic", "limited", "fixed"] | None = field(default=None, metadata=UNLESS_DEFAULT)
    """Whether torch.export takes any batch, not every one, or only the one that it was given.

    None for other front ends, if no size is common to the inputs, and without an export.
    """
