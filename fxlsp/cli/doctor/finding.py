"""Findings of the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from fxlsp.report.serialization import JsonObject

Mark = Literal["ok", "warning", "error"]
"""It works; it works less well than it could; without it nothing can be traced."""


@dataclass(frozen=True, slots=True)
class DoctorFinding(JsonObject):
    """Result of one check of the installation."""

    topic: str
    """In a word or two, the same in every run."""
    mark: Mark
    message: str
    details: tuple[str, ...] = ()
    """Lines for users who need more information."""
    advice: str | None = None
    """What to do."""
