"""What is wrong with a model: problems, and the failures that leave no graph at all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from .codes import Severity
from .locations import Location, RelatedPlace
from .serialization import JsonObject, fields_from_json, fields_to_json

SCHEMA = 1
"""Version of the public JSON; raised when a field changes its meaning or goes."""


@dataclass(frozen=True, slots=True)
class Problem(JsonObject):
    """One thing to tell the user, at one place (contract: ``PROBLEM``)."""

    code: str
    severity: Severity
    message: str
    location: Location | None
    related: tuple[RelatedPlace, ...] = ()
    module_path: str | None = None
    model: str = ""


@dataclass(frozen=True, slots=True)
class Failure(JsonObject):
    """Why a target has no graph: it could not be loaded, built or survived (codes FX9xx)."""

    target: str
    code: str
    message: str
    location: Location | None = None
    related: tuple[RelatedPlace, ...] = ()
    needs: str | None = None
    """What the user would have to give (``the argument 'width' of Net``); None if giving something cannot help."""

    def to_json(self) -> dict[str, Any]:
        """Return the failure object of ``trace --format json`` and ``trace --batch``."""
        failure = fields_to_json(self)
        return {"schema": SCHEMA, "target": failure.pop("target"), "failure": failure}

    @classmethod
    def from_json(cls, data: Any) -> Failure:
        """Read the failure object; raises as :meth:`.JsonObject.from_json` does."""
        return fields_from_json(cls, {**data["failure"], "target": data["target"]})
