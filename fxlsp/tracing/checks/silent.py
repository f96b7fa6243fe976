"""The checks for graphs that differ from what the model does when it runs (FX3xx)."""

from __future__ import annotations

from .calls import UnrecordedCalls
from .check import Check
from .constants import Constants
from .contexts import DroppedContexts
from .hooks import RootHooks
from .inputs import OptionalInputs, VariadicInputs
from .leaves import BypassedLeaves, TracedThrough
from .state import KeptState
from .tensor_attributes import TensorAttributes

SILENT: tuple[type[Check], ...] = (
    KeptState,
    TensorAttributes,
    Constants,
    UnrecordedCalls,
    DroppedContexts,
    RootHooks,
    OptionalInputs,
    VariadicInputs,
    BypassedLeaves,
    TracedThrough,
)
"""Each of them; those that watch note their own things, so their order does not matter."""
