"""Which of the uses of one ``forward`` is shown: what the user chose among the calls that ran it."""

from __future__ import annotations

from dataclasses import dataclass

from fxlsp.report.serialization import JsonObject


@dataclass(frozen=True, slots=True)
class ForwardInstance(JsonObject):
    """A call of a module in the trace of a model, named so that the next trace of the model has it too."""

    file: str
    """Path of the file that defines the traced model."""
    model: str
    """The traced model, ``Outer.Inner``."""
    module_path: str
    """``layer1.0``; "" for the model itself."""
    turn: int
    """Which call of the module it is, from 1."""
