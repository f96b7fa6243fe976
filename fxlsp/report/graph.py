"""Parts of a report that torch.fx recorded: nodes, modules, calls, verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from .locations import Location, Step
from .serialization import UNLESS_DEFAULT, JsonObject

Output = dict[str, Any]
"""Output of a node as JSON (contract: ``OUTPUT``).

``{"shape": [...], "dtype": "float32"}`` for a tensor, ``{"list": [...]}``, ``{"dict": {...}}``, ``{"value": ...}`` or
``{"type": "..."}``. None in its place means unknown. A tensor has ``"symbolic": ["B", 64, "(H+1)//2"]`` too where a
dimension is known as an expression of the report's symbols; the others are the numbers of the trace (addition).
"""

Opcode = Literal["placeholder", "get_attr", "call_function", "call_method", "call_module", "output"]


@dataclass(frozen=True, slots=True)
class Node(JsonObject):
    """Node of the graph with the source expression that made it.

    Contract: ``nodes[]``. Fields marked "addition" are not part of the contract.
    """

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
    """Positional, then keyword arguments of the node, in order; empty if the node was not run."""
    params: int
    """Number of elements of the called module's parameters or of the parameter that is read."""
    flops: int | None
    """FLOPs by torch.utils.flop_counter's formulas; None if an operator without a formula ran, or nothing ran."""
    recovered: bool = False
    opaque: bool = False
    module_arguments: str = ""
    """For ``call_module``, the arguments of the module as in its repr, on one line (addition)."""
    input_nodes: tuple[str, ...] = ()
    """Names of the nodes among the arguments of this one, each once, in order (addition)."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Local variables that held traced values when the node was made (addition).

    Maps the variables of the function around ``location`` to the names of the nodes whose outputs they held.
    """
    assumed: bool = field(default=False, metadata=UNLESS_DEFAULT)
    """Whether ``output`` rests on that of an operation that fails (addition).

    It is then what that operation would yield if its operands fitted.
    """


@dataclass(frozen=True, slots=True)
class Module(JsonObject):
    """Module of the model (contract: ``modules[]``)."""

    path: str
    aliases: tuple[str, ...]
    """Further names under which the same module is registered."""
    type: str
    """Class name."""
    params: int
    """Number of elements of the parameters of the module and its submodules, each parameter counted once."""
    calls: int
    """Number of calls of the module during tracing."""
    location: Location | None
    """Expression that constructed the module."""
    arguments: str = ""
    """Arguments as in the module's repr, on one line; "" for a module with children (addition)."""
    registration: Location | None = None
    """Assignment target or call that gave the module its ``path`` (addition); None for the root, and in copies."""


@dataclass(frozen=True, slots=True)
class ModuleCall(JsonObject):
    """Call of a module during the trace, leaf or not.

    The call of the root is the first. An addition to the contract.
    """

    module_path: str
    call_path: str | None
    type: str
    """Class name without its module."""
    leaf: bool
    location: Location | None
    """Calling expression; None for the root."""
    forward: Location | None
    """``def`` line of the ``forward`` that ran, if it is Python source outside torch."""
    inputs: tuple[Output | None, ...]
    """Positional, then keyword arguments, in the order of the call."""
    output: Output | None
    params: int
    """Number of elements of the parameters of the module and its submodules, each parameter counted once."""
    flops: int | None
    """Sum over the nodes made inside the call; None if the FLOPs of one are unknown, or the call did not return."""
    first_node: int
    """Index of the first node made inside the call."""
    end_node: int
    """Index after the last node made inside the call."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Local variables of the caller that held traced values, as in :class:`Node`."""


@dataclass(frozen=True, slots=True)
class TraceError(JsonObject):
    """Exception that ``torch.fx.symbolic_trace`` raises for this model."""

    type: str
    """Class name without its module, as in a traceback of the class: ``TraceError``, ``NameError``."""
    message: str
    location: Location | None
    """Innermost traceback frame outside torch."""


@dataclass(frozen=True, slots=True)
class Verdict(JsonObject):
    """Result of plain ``torch.fx.symbolic_trace``: success, or its error."""

    traceable: bool
    error: TraceError | None = None
