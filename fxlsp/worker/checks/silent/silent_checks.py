"""The checks for graphs that differ from what the model does when it runs (FX3xx)."""

from __future__ import annotations

from ..base.check import Check
from .constants import Constants
from .contexts import DroppedContexts
from .inputs import OptionalInputs, VariadicInputs
from .kept_state import KeptState
from .leaves import BypassedLeaves, TracedThrough
from .root_hooks import RootHooks
from .tensor_attributes import TensorAttributes
from .unrecorded_calls import UnrecordedCalls

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
