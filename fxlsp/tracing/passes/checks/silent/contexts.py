"""Context managers around nodes, which the graph does not record (FX310).

A problem is reported if the user's code entered one, under any name, and nodes were made before it was left. Not of one
that stops gradients around nodes that have none anyway, such as a mask that is made from sizes.
"""

from __future__ import annotations

import ast
import functools
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from types import CodeType, FrameType
from typing import Any

import torch
import torch.autograd.graph
import torch.autograd.profiler

from .....report.code_records import Severity
from .....report.codes import CONTEXT_DROPPED
from .....report.locations import Location
from .....report.problems import Problem
from ....model.capture.tracer import ModulePathTracer
from ....model.locations.bytecode.instructions import Instruction
from ....model.locations.bytecode.opcodes import context_entries
from ....model.locations.bytecode.spans import HAS_COLUMNS
from ....model.locations.class_text import code_of
from ....model.locations.code_origin import is_torch
from ....model.locations.source_map import CallStack
from ..base.check import Check
from ..base.executed_functions import UNRESOLVED, ExecutedFunction
from ..base.pass_result import PassResult

_MANAGERS: tuple[tuple[type, str], ...] = (
    (torch.no_grad, "torch.no_grad"),
    (torch.enable_grad, "torch.enable_grad"),
    (torch.inference_mode, "torch.inference_mode"),
    (torch.set_grad_enabled, "torch.set_grad_enabled"),
    (torch.autocast, "torch.autocast"),
    (torch.autograd.graph.saved_tensors_hooks, "saved_tensors_hooks"),
    (torch.autograd.profiler.record_function, "record_function"),
)
_OF_GRADIENTS = frozenset(("torch.no_grad", "torch.enable_grad", "torch.inference_mode", "torch.set_grad_enabled"))
_CALLS = ("call_function", "call_method")
_SIZE_METHODS = frozenset(("size", "dim", "ndimension", "numel", "nelement", "stride"))
_SIZE_ATTRIBUTES = frozenset(("shape", "ndim", "dtype", "device"))


@dataclass
class _Entry:
    """Context manager that is active, or was."""

    manager: Any
    name: str
    call_stack: CallStack
    module_path: str
    decorated: CodeType | None
    """The function that it decorates, if it was not entered by ``with``."""
    changes: bool
    """Whether it changed the state when it was entered."""
    first_node: int
    nodes: int = 0
    """Number of nodes made while it was active."""


class DroppedContexts(Check):
    """Check for context managers around nodes."""

    def __init__(self) -> None:
        self._entries: list[_Entry] = []
        self._entered: dict[int, list[_Entry]] = {}
        self._called: dict[int, _Entry] = {}
        """``torch.set_grad_enabled(...)`` as a statement: constructed, and never entered."""

    @contextmanager
    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> Iterator[None]:
        with ExitStack() as undo:
            for cls, name in _MANAGERS:
                for method, watch in (("__enter__", self._enter), ("__exit__", self._exit)):
                    original = vars(cls).get(method)
                    if original is not None:
                        undo.callback(setattr, cls, method, original)
                        setattr(cls, method, watch(original, name, tracer))
            original = torch.set_grad_enabled.__init__
            undo.callback(setattr, torch.set_grad_enabled, "__init__", original)
            torch.set_grad_enabled.__init__ = self._call(original, tracer)  # type: ignore[method-assign]
            yield
            made = sum(node.op != "output" for node in tracer.graph.nodes)
            for entry in self._called.values():
                entry.nodes = made - entry.first_node
                self._entries.append(entry)

    def _call(self, original: Callable[..., Any], tracer: ModulePathTracer) -> Callable[..., Any]:
        @functools.wraps(original)
        def call(manager: Any, mode: bool) -> None:
            original(manager, mode)
            if not tracer.evaluating and not is_torch(sys._getframe(1).f_code.co_filename):
                entry = _entry(manager, "torch.set_grad_enabled", tracer, _state())
                if entry is not None:
                    self._called[id(manager)] = entry

        return call

    def _enter(self, original: Callable[..., Any], name: str, tracer: ModulePathTracer) -> Callable[..., Any]:
        @functools.wraps(original)
        def enter(manager: Any) -> Any:
            before = _state()
            result = original(manager)
            self._called.pop(id(manager), None)
            if not tracer.evaluating and id(manager) not in self._entered:
                entry = _entry(manager, name, tracer, before)
                if entry is not None:
                    self._entered.setdefault(id(manager), []).append(entry)
            return result

        return enter

    def _exit(self, original: Callable[..., Any], name: str, tracer: ModulePathTracer) -> Callable[..., Any]:
        @functools.wraps(original)
        def leave(manager: Any, *error: Any) -> Any:
            for entry in self._entered.pop(id(manager), []):
                entry.nodes = len(tracer.graph.nodes) - entry.first_node
                self._entries.append(entry)
            return original(manager, *error)

        return leave

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        for entry in self._entries:
            location = _location(traced, entry) if entry.nodes else None
            if location is None or _is_without_gradients(entry, traced.tracer.graph):
                continue
            nodes = f"the {entry.nodes} nodes made under it run" if entry.nodes > 1 else "the node made under it runs"
            message = f"{entry.name} is not part of the graph: {nodes} without it{_effect(entry)}."
            yield traced.problem(CONTEXT_DROPPED, message, location, entry.module_path, severity=_severity(entry))


def _is_without_gradients(entry: _Entry, graph: torch.fx.Graph) -> bool:
    """Return whether a manager is about gradients, and none reaches a node under it: it is made from sizes alone."""
    if entry.name not in _OF_GRADIENTS:
        return False
    of_sizes: set[torch.fx.Node] = set()
    for number, node in enumerate(graph.nodes):
        if _is_size(node) or (node.op in _CALLS and of_sizes.issuperset(node.all_input_nodes)):
            of_sizes.add(node)
        elif 0 <= number - entry.first_node < entry.nodes:
            return False
    return True


def _is_size(node: torch.fx.Node) -> bool:
    """Return whether a node is a size, a type or a device of its input."""
    if node.op == "call_method":
        return node.target in _SIZE_METHODS
    return node.target is getattr and node.args[1] in _SIZE_ATTRIBUTES


def _state() -> tuple[object, ...]:
    return (
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
        torch.is_autocast_enabled("cpu"),
        torch.is_autocast_enabled("cuda"),
        torch.get_autocast_dtype("cpu"),
        torch.get_autocast_dtype("cuda"),
    )


def _entry(manager: Any, name: str, tracer: ModulePathTracer, before: tuple[object, ...]) -> _Entry | None:
    """Return an entry for a manager entered by the user's code, None if by torch's."""
    frame: FrameType | None = sys._getframe(2)
    while frame is not None and (frame.f_code.co_name == "__enter__" or _is_contextlib(frame)):
        frame = frame.f_back
    if frame is None:
        return None
    decorated = None
    if is_torch(frame.f_code.co_filename):
        decorated = code_of(frame.f_locals.get("func"))
        if decorated is None or is_torch(decorated.co_filename):
            return None
    if name == "torch.set_grad_enabled":
        # It takes effect when it is constructed, before it is entered.
        before = (manager.prev, *before[1:])
    path = tracer.current_path
    changes = before != _state() or name in ("saved_tensors_hooks", "record_function")
    return _Entry(manager, name, tracer.call_stack(), path, decorated, changes, len(tracer.graph.nodes))


def _is_contextlib(frame: FrameType) -> bool:
    return frame.f_globals.get("__name__") == "contextlib"


def _severity(entry: _Entry) -> Severity | None:
    """Return ``hint`` for a manager without effect on values, else None.

    These label a profile, or enable what is enabled already.
    """
    return "hint" if entry.name == "record_function" or not entry.changes else None


def _effect(entry: _Entry) -> str:
    if not entry.changes:
        return ", whatever is on around the graph"
    match entry.name:
        case name if name in _OF_GRADIENTS:
            records = "record" if entry.nodes > 1 else "records"
            return f", and {records} gradients as everything around the graph does"
        case "torch.autocast":
            return ", in the types of the operands"
    return ""


def _location(traced: PassResult, entry: _Entry) -> Location | None:
    if entry.decorated is not None:
        return _of_decorator(traced, entry)
    shown = [step for step in entry.call_stack if traced.places.is_shown(step.code.co_filename)]
    place = traced.problem_location(entry.call_stack)
    inner = shown[-1] if shown else None
    if inner is not None and place == traced.places.locate(inner.code, inner.offset):
        return _of_item(traced, inner, entry) or place
    return place


def _of_decorator(traced: PassResult, entry: _Entry) -> Location | None:
    code = entry.decorated
    function = None if code is None else traced.executed.with_code(code)
    if code is None or function is None:
        return None if code is None else traced.places.of_decorator(code)
    decorators = function.definition.decorator_list
    fitting = [part for part in decorators if _makes(function, part, entry)]
    chosen = fitting or decorators
    return traced.executed.location(function, chosen[-1]) if chosen else traced.places.of_definition(code)


def _of_item(traced: PassResult, instruction: Instruction, entry: _Entry) -> Location | None:
    """Return the location of the ``with`` item that an instruction enters, else None."""
    code, offset, _ = instruction
    function = traced.executed.with_code(code)
    if function is None or offset not in context_entries(code):
        return None
    line = traced.places.locate(code, offset).line
    statements = [
        statement
        for statement in function.parts(ast.With)
        if statement.lineno <= line <= (statement.items[-1].context_expr.end_lineno or line)
    ]
    if not statements:
        return None
    items = [item.context_expr for item in statements[-1].items]
    fitting = [item for item in items if _makes(function, item, entry)]
    item = fitting[0] if len(fitting) == 1 else _entered_item(traced, function, instruction, items)
    return traced.executed.location(function, item)


def _entered_item(
    traced: PassResult, function: ExecutedFunction, instruction: Instruction, items: list[ast.expr]
) -> ast.expr:
    """Return the item that an instruction enters, by position, else by order.

    CPython 3.11 gives each instruction the position of the whole statement, later versions that of its item; 3.10 has
    line numbers only.
    """
    code, offset, _ = instruction
    place = traced.places.locate(code, offset)
    if HAS_COLUMNS:
        for item in items:
            if traced.executed.location(function, item) == place:
                return item
    turn = sum(earlier < offset and traced.places.locate(code, earlier) == place for earlier in context_entries(code))
    # Code that is reached in several ways, such as a ``finally``, is compiled several times.
    return items[turn % len(items)]


def _makes(function: ExecutedFunction, expression: ast.expr, entry: _Entry) -> bool:
    """Return whether an expression denotes, or calls, the class of the manager."""
    named = expression.func if isinstance(expression, ast.Call) else expression
    found = function.resolve(named)
    return found is not UNRESOLVED and isinstance(found, type) and isinstance(entry.manager, found)
