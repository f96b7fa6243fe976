"""State stored or changed outside ``forward`` while tracing (FX305, FX306, FX307).

A snapshot before the pass and a comparison after it show *that* something changed; the assignments recorded in between,
and the text of the functions that ran, show *where*.
"""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch

from .....report.codes import BUFFER_UPDATE, PROXY_KEPT, STATE_BAKED
from .....report.locations import Location, RelatedPlace
from .....report.problems import Problem
from ....isolation.replacement import replaced
from ....model.building.state_snapshot import MISSING, StateChange, StateSnapshot, holds_proxy
from ....model.capture.tracer import ModulePathTracer
from ....model.locations.source_map import CallStack
from ..base.attribute_uses import AttributeUse, assignments, changes_of, clears, reads
from ..base.check import Check
from ..base.executed_functions import ExecutedFunctions
from ..base.pass_result import PassResult


class KeptState(Check):
    """Check for traced values that are stored, and for Python state that changes."""

    def __init__(self) -> None:
        self._notes: list[AttributeAssignment] = []
        self._snapshot: StateSnapshot | None = None

    @contextmanager
    def watching(self, root: torch.nn.Module, tracer: ModulePathTracer) -> Iterator[None]:
        self._snapshot = StateSnapshot(root)
        with recording_assignments(tracer, self._notes):
            yield

    def problems(self, traced: PassResult) -> Iterator[Problem]:
        if self._snapshot is None:
            return
        for change in self._snapshot.changes():
            yield from _ChangeReport(traced, change, self._notes, self._snapshot).problems()


class _ChangeReport:
    """Problems of one change."""

    def __init__(
        self, traced: PassResult, change: StateChange, notes: list[AttributeAssignment], snapshot: StateSnapshot
    ) -> None:
        self._traced = traced
        self._change = change
        self._snapshot = snapshot
        self._notes = [note for note in notes if note.module is change.owner and note.name == change.name]

    def problems(self) -> Iterator[Problem]:
        change = self._change
        if change.keeps_proxy:
            yield from self._proxy_kept()
        elif self._is_buffer():
            yield from self._buffer_replaced()
        elif change.name:
            yield from self._attribute_changed()
        elif not holds_proxy(change.after):
            yield from self._contents_changed()

    def _proxy_kept(self) -> Iterator[Problem]:
        what, owner = self._label(), self._change.owner
        if self._is_buffer():
            message = (
                f"The buffer {what} becomes a traced value here: the graph never updates it, and torch.fx's proxy "
                f"replaces the tensor in the model itself"
            )
        else:
            message = (
                f"A traced value is kept in {what} here: the graph does not store it, so after running the graph "
                f"{what} still holds what it held when it was traced"
            )
        stored = [note for note in self._notes if note.holds_proxy]
        for note in stored:
            yield self._problem(PROXY_KEPT, message, self._traced.problem_location(note.call_stack), note.module_path)
        if stored:
            return
        executed = self._traced.executed
        uses = changes_of(executed, self._change.after) if _is_container(self._change.after) else []
        if not uses and self._change.name:
            uses = assignments(executed, owner, self._change.name)
        for use in uses:
            if not clears(use):
                yield self._problem(PROXY_KEPT, message, self._location(use), _path_of(use))

    def _buffer_replaced(self) -> Iterator[Problem]:
        message = (
            f"The buffer {self._label()} is replaced here while the model is traced, and never by the graph: running "
            f"the graph leaves it as it is"
        )
        for note in self._notes:
            yield self._problem(
                BUFFER_UPDATE, message, self._traced.problem_location(note.call_stack), note.module_path
            )

    def _attribute_changed(self) -> Iterator[Problem]:
        change, executed = self._change, self._traced.executed
        read = reads(executed, change.owner, change.name)
        targets = assignments(executed, change.owner, change.name)
        if not self._depends_on_last_time(targets, read):
            return
        message = (
            f"{self._label()} changes whenever this runs (from {_shown(change.before)} to {_shown(change.after)} "
            f"while tracing); the graph does not change it"
        )
        if read:
            message += ", and holds for ever what followed from its value while tracing"
        related = self._related(read)
        if self._notes:
            for note in self._notes:
                location = self._traced.problem_location(note.call_stack)
                yield self._problem(STATE_BAKED, message, location, note.module_path, related)
            return
        for use in targets:
            yield self._problem(STATE_BAKED, message, self._location(use), _path_of(use), related)

    def _depends_on_last_time(self, targets: list[AttributeUse], read: list[AttributeUse]) -> bool:
        """Return whether the attribute is read before it is set.

        Each run then uses the value that the last one has set.
        """
        augmented = {id(part.target) for use in targets for part in use.function.parts(ast.AugAssign)}
        if any(id(use.node) in augmented for use in targets):
            return True
        setters = {use.function.key: use for use in reversed(targets)}
        for use in read:
            setter = setters.get(use.function.key)
            if setter is not None:
                # The value is computed before the target is assigned, though it follows it in the text.
                statement = _statement_of(setter)
                if use.start < setter.start or _within(use.node, statement):
                    return True
            elif self._ran_before_assignment(use):
                return True
        return False

    def _ran_before_assignment(self, use: AttributeUse) -> bool:
        """Return whether the reading function made nodes before the assignment."""
        first = min((note.nodes for note in self._notes), default=0)
        nodes = list(self._traced.tracer.graph.nodes)[:first]
        origins = self._traced.tracer.origins
        code = use.function.code
        return any(step.code is code for node in nodes for step in origins[node].call_stack)

    def _contents_changed(self) -> Iterator[Problem]:
        container, executed = self._change.after, self._traced.executed
        uses = changes_of(executed, container)
        if any(clears(use) for use in uses):
            # A container that is cleared and filled again each time has the same contents each time.
            return
        message = (
            f"{self._label(uses)} is changed here while the model is traced, and never by the graph; what depends on "
            f"it in the graph is what it was then"
        )
        for use in uses:
            yield self._problem(STATE_BAKED, message, self._location(use), _path_of(use))

    def _is_buffer(self) -> bool:
        owner = self._change.owner
        return isinstance(owner, torch.nn.Module) and self._change.name in owner._buffers

    def _label(self, uses: list[AttributeUse] | None = None) -> str:
        change = self._change
        if not change.name:
            return ast.unparse(_container_in(uses[0].node)) if uses else _described(change.after, self._traced.executed)
        if isinstance(change.owner, ModuleType):
            return f"the global {change.name}"
        if isinstance(change.owner, torch.nn.Module):
            return f"self.{change.name}"
        return f"{type(change.owner).__name__}.{change.name}"

    def _related(self, read: list[AttributeUse]) -> tuple[RelatedPlace, ...]:
        places = dict.fromkeys(self._location(use) for use in read)
        return tuple(RelatedPlace("its value at tracing is baked in here", place) for place in places)

    def _location(self, use: AttributeUse) -> Location:
        return self._traced.executed.location(use.function, use.node)

    def _problem(
        self,
        code: str,
        message: str,
        location: Location | None,
        path: str | None,
        related: tuple[RelatedPlace, ...] = (),
    ) -> Problem:
        return self._traced.problem(code, f"{message}.", location, path, related)


def _is_container(value: object) -> bool:
    return isinstance(value, (list, dict, set, deque))


def _described(container: Any, executed: ExecutedFunctions) -> str:
    uses = changes_of(executed, container)
    return ast.unparse(_container_in(uses[0].node)) if uses else f"a {type(container).__name__}"


def _container_in(node: ast.AST) -> ast.AST:
    """Return the container in an expression that changes it."""
    match node:
        case ast.Call(func=ast.Attribute(value=value)):
            return value
        case ast.Subscript(value=value):
            return value
        case ast.AugAssign(target=target):
            return target
    return node


def _statement_of(use: AttributeUse) -> ast.AST:
    """Return the smallest statement that contains a target."""
    kinds = (ast.Assign, ast.AnnAssign, ast.AugAssign)
    holders = [part for kind in kinds for part in use.function.parts(kind) if _within(use.node, part)]
    return holders[-1] if holders else use.node


def _within(node: ast.AST, outer: ast.AST) -> bool:
    return any(part is node for part in ast.walk(outer))


def _path_of(use: AttributeUse) -> str | None:
    return next(iter(use.function.modules), None)


def _shown(value: object) -> str:
    if value is MISSING:
        return "nothing"
    if isinstance(value, torch.Tensor):
        return "a tensor"
    return repr(value) if isinstance(value, (bool, int, float, str, type(None))) else f"a {type(value).__name__}"


@dataclass(frozen=True)
class AttributeAssignment:
    """One ``module.name = value``, and the expression that ran it."""

    module: torch.nn.Module
    name: str
    value: Any
    holds_proxy: bool
    """Whether ``value`` contained a traced value when it was assigned; lists may be filled later."""
    call_stack: CallStack
    module_path: str
    """Path of the module whose ``forward`` assigned."""
    nodes: int
    """Number of nodes that the graph had."""


@contextmanager
def recording_assignments(tracer: ModulePathTracer, notes: list[AttributeAssignment]) -> Iterator[None]:
    """Add each assignment to an attribute of a module to ``notes``, in this context."""
    original = torch.nn.Module.__setattr__

    def assign(self: torch.nn.Module, name: str, value: Any) -> None:
        if not tracer.evaluating:
            path = tracer.current_path
            nodes = len(tracer.graph.nodes)
            notes.append(AttributeAssignment(self, name, value, holds_proxy(value), tracer.call_stack(), path, nodes))
        original(self, name, value)

    with replaced(torch.nn.Module, __setattr__=assign):
        yield
