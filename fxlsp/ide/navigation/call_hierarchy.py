"""Call hierarchy of modules: which ``forward`` calls which, at which expressions.

Torch's containers are skipped: ``self.layers(x)`` calls the ``forward`` of what the ``nn.Sequential`` holds. A module
that runs torch's own code, such as a convolution, is an item of its own, at the line that registered it.
"""

from __future__ import annotations

from collections.abc import Iterator

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.navigation.hierarchy_items import HierarchyBuilder, HierarchyCalls, HierarchyItem, Reference, path_below
from fxlsp.ide.trace_view.at_cursor import call_site_at, defining_class, forward_target
from fxlsp.ide.trace_view.call_tree import NestedCall
from fxlsp.ide.trace_view.in_trace import InTrace, target_of
from fxlsp.ide.trace_view.outline import outline
from fxlsp.ide.trace_view.report_index import index_of
from fxlsp.report.locations import Location
from fxlsp.source.text.positions import Span

__all__ = ["HierarchyCalls", "HierarchyItem", "Reference", "incoming", "outgoing", "prepare"]


def prepare(snapshot: Snapshot, path: str, line: int, column: int) -> list[HierarchyItem]:
    """Return the items for a position on a class, its ``forward`` or a module call.

    Empty if none of them ever ran.
    """
    builder = HierarchyBuilder(snapshot)
    for model in (each.model for each in outline(snapshot, path)):
        forward = model.forward
        if forward is not None and any(name.contains(line, column) for name in (model.name, forward.name)):
            for reported in _calls_of(
                snapshot, Reference(path, model.qualname, forward.name.line, forward.name.column)
            ):
                builder.add(reported)
            return builder.items()
    site = call_site_at(snapshot, path, line, column)
    if site is not None:
        inside = [reported for reported in site.calls if reported.item.call.forward is not None]
        for reported in inside or site.direct:
            builder.add(reported)
    return builder.items()


def incoming(snapshot: Snapshot, reference: Reference) -> list[HierarchyCalls]:
    """Return the callers of an item, in every last good report.

    The places are in the file of the caller.
    """
    builder = HierarchyBuilder(snapshot)
    for reported in _calls_of(snapshot, reference):
        caller = reported.item.caller
        place = None if caller is None else _place(snapshot, reported, caller)
        if caller is not None and place is not None:
            builder.add(reported.beside(caller), place)
    return builder.calls()


def outgoing(snapshot: Snapshot, reference: Reference) -> list[HierarchyCalls]:
    """Return what an item calls, in every last good report.

    The places are in the file of the reference.
    """
    builder = HierarchyBuilder(snapshot)
    for reported in _calls_of(snapshot, reference):
        caller = reported.item.caller if reported.item.call.forward is None else reported.item
        for callee in reported.item.callees:
            called = reported.beside(callee)
            place = None if caller is None else _place(snapshot, called, caller)
            if place is not None:
                builder.add(called, place)
    return builder.calls()


def _calls_of(snapshot: Snapshot, reference: Reference) -> Iterator[InTrace[NestedCall]]:
    """Yield every call that an item represents."""
    for state, _ in snapshot.reports_touching(reference.path):
        if state.report is None:
            continue
        index = index_of(state.report)
        for nested_calls in index.calls.of_forward(reference.path).values():
            if not _is_meant(snapshot, reference, InTrace(state, index, nested_calls[0])):
                continue
            for nested in nested_calls:
                meant = _modules_of(nested, nested, reference.module) if reference.module else [nested]
                yield from (InTrace(state, index, each) for each in meant)


def _is_meant(snapshot: Snapshot, reference: Reference, reported: InTrace[NestedCall]) -> bool:
    """Return whether a call ran the ``forward`` of a reference."""
    target = forward_target(snapshot, reported)
    model = None if target is None else defining_class(snapshot, target)
    if model is not None and reference.name:
        return model.qualname == reference.name
    return target is not None and (target.span.line, target.span.column) == (reference.line, reference.column)


def _modules_of(forward: NestedCall, around: NestedCall, below: str) -> Iterator[NestedCall]:
    """Yield the calls of a module without workspace code that a ``forward`` made.

    They may be at any depth.
    """
    for callee in around.callees:
        if callee.call.forward is None:
            if path_below(forward.call.module_path, callee.call.module_path) == below:
                yield callee
            yield from _modules_of(forward, callee, below)


def _place(snapshot: Snapshot, called: InTrace[NestedCall], caller: NestedCall) -> Span | None:
    """Return the expression in the calling ``forward``'s file that made a call.

    None if it was edited away.
    """
    target = target_of(snapshot, called.state, _location(called, caller))
    return None if target is None else target.span


def _location(called: InTrace[NestedCall], caller: NestedCall) -> Location | None:
    call, forward = called.item.call, caller.call.forward
    if call.location is None or forward is None or call.location.file == forward.file:
        return call.location
    # A function of another file calls the module: what counts is the expression in this file that called the function.
    nodes = called.index.report.nodes[call.first_node : call.end_node]
    steps = [
        step.location
        for step in (nodes[0].stack if nodes else ())
        if step.module_path == caller.call.module_path and step.location.file == forward.file
    ]
    return steps[-1] if steps else None
