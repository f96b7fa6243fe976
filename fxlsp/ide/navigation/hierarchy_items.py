"""Items of the call hierarchy: each ``forward`` or module once for all instances."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.render.shapes import flow_text
from fxlsp.ide.trace_view.at_cursor import defining_class, forward_target
from fxlsp.ide.trace_view.call_tree import NestedCall
from fxlsp.ide.trace_view.in_trace import InTrace, NavigationTarget, target_of
from fxlsp.ide.trace_view.module_tree import place_of_module
from fxlsp.ide.trace_view.provenance import STALE
from fxlsp.ide.trace_view.runs import path_text
from fxlsp.report.locations import Location
from fxlsp.report.serialization import JsonObject
from fxlsp.source.text.positions import Span


@dataclass(frozen=True, slots=True)
class Reference(JsonObject):
    """Reference to an item that stays valid after edits and further traces."""

    path: str
    """The file of a ``forward``."""
    name: str
    """The class that defines it; "" if its file was not open, in which case the position identifies it."""
    line: int
    column: int
    """Position of the name of the ``forward``."""
    module: str = ""
    """Path of a called module below its caller, if that is meant and not the ``forward`` itself."""


@dataclass(frozen=True, slots=True)
class HierarchyItem:
    """A ``forward``, or a module that runs torch's own code."""

    name: str
    kind: Literal["forward", "module"]
    detail: str
    target: NavigationTarget
    reference: Reference


@dataclass(frozen=True, slots=True)
class HierarchyCalls:
    """One side of some calls, and the expressions that call."""

    item: HierarchyItem
    places: tuple[Span, ...]


@dataclass(slots=True)
class _End:
    target: NavigationTarget
    reference: Reference
    owner: str
    """The class of a ``forward``."""
    calls: list[InTrace[NestedCall]] = field(default_factory=list)
    places: set[Span] = field(default_factory=set)


class HierarchyBuilder:
    """Collects one side of calls and groups it by item."""

    def __init__(self, snapshot: Snapshot) -> None:
        self._snapshot = snapshot
        self._found: dict[tuple[str, Span, str], _End] = {}
        self._forwards: dict[tuple[int, Location], NavigationTarget | None] = {}

    def add(self, reported: InTrace[NestedCall], place: Span | None = None) -> None:
        """Add a call, and the expression where it called or was called.

        Nothing is added for a ``forward`` or module that was edited away.
        """
        end = self._module(reported) if reported.item.call.forward is None else self._forward(reported)
        if end is not None:
            end.calls.append(reported)
            end.places |= {place} if place is not None else set()

    def items(self) -> list[HierarchyItem]:
        """Return the items in the order in which they were added."""
        return [_item(end) for end in self._found.values()]

    def calls(self) -> list[HierarchyCalls]:
        """Return the items with the calling expressions.

        Items are in the order in which they were added, the expressions of each in the order of the text.
        """
        return [HierarchyCalls(_item(end), tuple(sorted(end.places))) for end in self._found.values()]

    def _forward(self, reported: InTrace[NestedCall]) -> _End | None:
        target = self._forward_target(reported)
        if target is None:
            return None
        key = (target.path, target.span, "")
        if key not in self._found:
            reference = self._reference(target)
            self._found[key] = _End(target, reference, reference.name or reported.item.call.type)
        return self._found[key]

    def _module(self, reported: InTrace[NestedCall]) -> _End | None:
        """Return the entry of a module without workspace code.

        It is identified by its path below the module whose ``forward`` calls it, so all instances of the caller share
        one entry.
        """
        caller = reported.item.caller
        around = None if caller is None else self._forward_target(reported.beside(caller))
        if caller is None or around is None:
            return None
        below = path_below(caller.call.module_path, reported.item.call.module_path)
        key = (around.path, around.span, below)
        if key not in self._found:
            target = self._registration(reported)
            if target is None:
                return None
            self._found[key] = _End(target, replace(self._reference(around), module=below), "")
        return self._found[key]

    def _registration(self, reported: InTrace[NestedCall]) -> NavigationTarget | None:
        """Return the line that registered a module, else the expression that calls it."""
        registered = reported.index.modules.get(reported.item.call.module_path)
        place = None if registered is None else place_of_module(registered.module)
        return target_of(self._snapshot, reported.state, place) or target_of(
            self._snapshot, reported.state, reported.item.call.location
        )

    def _reference(self, forward: NavigationTarget) -> Reference:
        model = defining_class(self._snapshot, forward)
        return Reference(forward.path, "" if model is None else model.qualname, forward.span.line, forward.span.column)

    def _forward_target(self, reported: InTrace[NestedCall]) -> NavigationTarget | None:
        location = reported.item.call.forward
        if location is None:
            return None
        key = (id(reported.state), location)
        if key not in self._forwards:
            self._forwards[key] = forward_target(self._snapshot, reported)
        return self._forwards[key]


def path_below(around: str, path: str) -> str:
    """Return ``conv1`` for ``layer1.0.conv1`` in ``layer1.0``.

    The whole path if the module is registered elsewhere.
    """
    return path.removeprefix(f"{around}.") if around else path


def _item(end: _End) -> HierarchyItem:
    if end.reference.module:
        kinds = " or ".join(dict.fromkeys(reported.item.call.type for reported in end.calls))
        return HierarchyItem(end.reference.module, "module", f"{kinds} · {_detail(end)}", end.target, end.reference)
    return HierarchyItem(f"{end.owner}.forward", "forward", _detail(end), end.target, end.reference)


def _detail(end: _End) -> str:
    """Return ``layer1.0 (+7 more): (1, 64, 56, 56) → (1, 64, 56, 56)``."""
    first = end.calls[0]
    call = first.item.call
    others = len({id(reported.item) for reported in end.calls}) - 1
    more = f" (+{others} more)" if others else ""
    flow = flow_text(call.inputs, call.output, first.index.usual_dtype)
    return f"{path_text(call.module_path)}{more}: {flow}{STALE if first.state.is_stale else ''}"
