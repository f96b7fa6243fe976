"""What is wrong with a model: problems, and the failures that leave no graph at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .codes import Severity
from .places import Location, RelatedPlace, location_or_none

SCHEMA = 1
"""Version of the public JSON; raised when a field changes its meaning or goes."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing to tell the user, at one place (contract: ``PROBLEM``)."""

    code: str
    severity: Severity
    message: str
    location: Location | None
    related: tuple[RelatedPlace, ...] = ()
    module_path: str | None = None
    model: str = ""

    def to_json(self) -> dict[str, Any]:
        return {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "location": None if self.location is None else self.location.to_json(),
            "related": [place.to_json() for place in self.related],
            "module_path": self.module_path,
            "model": self.model,
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Problem:
        return cls(
            data["code"],
            data["severity"],
            data["message"],
            location_or_none(data["location"]),
            tuple(RelatedPlace.from_json(place) for place in data["related"]),
            data["module_path"],
            data["model"],
        )


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a target has no graph: it could not be loaded, built or survived (codes FX9xx)."""

    target: str
    code: str
    message: str
    location: Location | None = None
    related: tuple[RelatedPlace, ...] = ()
    needs: str | None = None
    """What the user would have to give (``the argument 'width' of Net``); None if giving something cannot help."""

    def to_json(self) -> dict[str, Any]:
        """The failure object of ``trace --format json`` and ``trace --batch``."""
        return {
            "schema": SCHEMA,
            "target": self.target,
            "failure": {
                "code": self.code,
                "message": self.message,
                "location": None if self.location is None else self.location.to_json(),
                "related": [place.to_json() for place in self.related],
                "needs": self.needs,
            },
        }

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Failure:
        failure = data["failure"]
        return cls(
            data["target"],
            failure["code"],
            failure["message"],
            location_or_none(failure["location"]),
            tuple(RelatedPlace.from_json(place) for place in failure.get("related", ())),
            failure.get("needs"),
        )
