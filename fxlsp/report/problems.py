"""Problems of a model, and failures that prevent any graph."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .code_records import Severity
from .codes import severity_of
from .locations import Location, RelatedPlace
from .serialization import UNLESS_DEFAULT, JsonObject, fields_from_json, fields_to_json

SCHEMA = 1
"""Version of the public JSON; incremented when a field is removed or changes its meaning."""


@dataclass(frozen=True, slots=True)
class FittingNumber(JsonObject):
    """Argument of a layer's constructor with which an operation that fails would run, which is proven."""

    location: Location
    """Call of the constructor."""
    layer: str
    """Class of the layer: ``Linear``."""
    argument: str
    """Name of the argument: ``in_features``."""
    value: int
    """Number with which the layer fails."""
    fitting: int
    """Number with which it runs."""
    unit: str
    """What is counted: ``features``."""


@dataclass(frozen=True, slots=True)
class Problem(JsonObject):
    """Problem at one place of the source (contract: ``PROBLEM``)."""

    code: str
    severity: Severity
    message: str
    location: Location | None
    related: tuple[RelatedPlace, ...] = ()
    module_path: str | None = None
    model: str = ""
    fitting: FittingNumber | None = field(default=None, metadata=UNLESS_DEFAULT)
    """Number that fits, if the operation is a layer that was made with another one."""
    refused_sizes: tuple[str, ...] = field(default=(), metadata=UNLESS_DEFAULT)
    """Forms in which this torch refuses a traced size, of ``"tuple"`` and ``"whole"``; of problems that may be
    about one."""


@dataclass(frozen=True, slots=True)
class Failure(JsonObject):
    """Reason why a target has no graph (codes FX9xx).

    The target could not be loaded or built, or its process died.
    """

    target: str
    code: str
    message: str
    location: Location | None = None
    related: tuple[RelatedPlace, ...] = ()
    needs: str | None = None
    """What the user would have to supply (``the argument 'width' of Net``); None if nothing supplied would help."""
    is_certain: bool = field(default=False, metadata=UNLESS_DEFAULT)
    """Whether the code fails for any tool, as text does that does not parse, and a layer that refuses its arguments."""

    @property
    def severity(self) -> Severity:
        """Severity unless the user configured another one."""
        if self.needs is not None:
            return "info"
        return "error" if self.is_certain else severity_of(self.code)

    def to_json(self) -> dict[str, Any]:
        """Return the failure object of ``trace --format json`` and ``trace --batch``."""
        failure = fields_to_json(self)
        return {"schema": SCHEMA, "target": failure.pop("target"), "failure": failure}

    @classmethod
    def from_json(cls, data: Any) -> Failure:
        """Return the failure that :meth:`to_json` wrote.

        Raises:
            KeyError, TypeError, AttributeError: as :meth:`.JsonObject.from_json`.
        """
        return fields_from_json(cls, {**data["failure"], "target": data["target"]})
