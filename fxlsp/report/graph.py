"""What torch.fx recorded: nodes, modules, module calls and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .locations import Location, Step
from .serialization import JsonObject

Output = dict[str, Any]
"""What a node produced, as JSON (contract: ``OUTPUT``): ``{"shape": [...], "dtype": "float32"}`` for a tensor,
``{"list": [...]}``, ``{"dict": {...}}``, ``{"value": ...}`` or ``{"type": "..."}``. None in its place means unknown."""

Opcode = Literal["placeholder", "get_attr", "call_function", "call_method", "call_module", "output"]


@dataclass(frozen=True, slots=True)
class Node(JsonObject):
    """A node of the graph, with the source expression that made it (contract: ``nodes[]``)."""

    name: str
    op: Opcode
    target: str
    module_path: str | None
    """Path of the originating module as PyTorch's ``module_tracer.py`` example records it; "" is the root."""
    call_path: str | None
    """Path by which the call site reached the module, None where it is ambiguous."""
    module_type: str | None
    """Class name of the module at ``module_path``."""
    location: Location | None
    stack: tuple[Step, ...]
    """Calling expressions from the root ``forward`` to ``location``, outermost first."""
    output: Output | None
    inputs: tuple[Output | None, ...]
    """What the node's positional and keyword arguments were, in order; empty where the node was not run."""
    params: int
    """Parameters of the called module or read parameter, elements."""
    flops: int | None
    """By torch.utils.flop_counter's formulas; None when an operator without a formula ran, or nothing ran."""
    recovered: bool = False
    opaque: bool = False
    module_arguments: str = ""
    """For ``call_module``, the arguments of the module as its repr gives them, on one line (an addition)."""
    input_nodes: tuple[str, ...] = ()
    """Names of the nodes that the arguments of this one mention, each once, in order (an addition)."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Of each local variable of the function around ``location`` that held a traced value when the node was made, the
    name of the node whose output that is (an addition)."""


@dataclass(frozen=True, slots=True)
class Module(JsonObject):
    """A module of the model (contract: ``modules[]``)."""

    path: str
    aliases: tuple[str, ...]
    """Further names under which the same module is registered."""
    type: str
    """Class name."""
    params: int
    """Parameters of the module and everything below it, elements, each counted once."""
    calls: int
    """How often tracing entered it."""
    location: Location | None
    """The expression that constructed it."""
    arguments: str = ""
    """Its arguments as its repr gives them, on one line; "" for a module with children (an addition)."""
    registration: Location | None = None
    """The target or call that gave it its ``path`` (an addition); None for the root, and in copies."""


@dataclass(frozen=True, slots=True)
class ModuleCall(JsonObject):
    """One entry of a module during the trace, leaf or not; the root's is the first (an addition to the contract)."""

    module_path: str
    call_path: str | None
    type: str
    """Class name alone."""
    leaf: bool
    location: Location | None
    """The calling expression; None for the root."""
    forward: Location | None
    """The ``def`` line of the ``forward`` that ran, where it is Python source outside torch."""
    inputs: tuple[Output | None, ...]
    """In the order of the call: positional, then keyword arguments."""
    output: Output | None
    params: int
    """Parameters of the module and everything below it, elements, each counted once."""
    flops: int | None
    """Sum over the nodes made inside the call; None when the FLOPs of one are unknown, or the call did not return."""
    first_node: int
    """Index of the first node made inside the call."""
    end_node: int
    """Index after the last node made inside the call."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """As of a node: what the local variables of the caller held."""


@dataclass(frozen=True, slots=True)
class TraceError(JsonObject):
    """The exception with which ``torch.fx.symbolic_trace`` ends on this model."""

    type: str
    """Class name without its module, as in a traceback of the class: ``TraceError``, ``NameError``."""
    message: str
    location: Location | None
    """The innermost traceback frame outside torch."""


@dataclass(frozen=True, slots=True)
class Verdict(JsonObject):
    """Whether plain ``torch.fx.symbolic_trace`` succeeds."""

    traceable: bool
    error: TraceError | None = None
