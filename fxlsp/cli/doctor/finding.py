"""What one look at the installation found."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

Mark = Literal["ok", "warning", "error"]
"""It works; it works less well than it could; without it nothing can be traced."""


@dataclass(frozen=True, slots=True)
class Finding:
    topic: str
    """In a word or two, the same in every run."""
    mark: Mark
    message: str
    details: tuple[str, ...] = ()
    """Lines for whoever wants to know more."""
    advice: str | None = None
    """What to do."""

    def to_json(self) -> dict[str, Any]:
        return {
            "topic": self.topic,
            "mark": self.mark,
            "message": self.message,
            "details": list(self.details),
            "advice": self.advice,
        }
