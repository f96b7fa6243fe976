"""Uses of one ``forward``, of which the user chooses the one to show."""

from __future__ import annotations

from dataclasses import dataclass

from fxlsp.report.serialization import JsonObject


@dataclass(frozen=True, slots=True)
class ForwardInstance(JsonObject):
    """Call of a module in a model's trace, named alike in the model's next traces."""

    file: str
    """Path of the file that defines the traced model."""
    model: str
    """Qualified name of the traced model: ``Outer.Inner``."""
    module_path: str
    """Module path, such as ``layer1.0``; "" for the model itself."""
    turn: int
    """Number of the call of this module, from 1."""
