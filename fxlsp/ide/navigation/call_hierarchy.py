"""The calls of modules as a hierarchy: which ``forward`` calls which, and at which expressions.

Torch's containers are passed over: ``self.layers(x)`` calls the ``forward`` of what the ``nn.Sequential`` holds. A
module that runs torch's own code, such as a convolution, stands for itself, at the line that registered it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.navigation.hierarchy_items import Calls, Ends, Item, Reference, path_below
from fxlsp.ide.trace_view.call_tree import Entry
from fxlsp.ide.trace_view.module_call_at import Ran, call_site_at, class_around, forward_target
from fxlsp.ide.trace_view.outline import outline
from fxlsp.ide.trace_view.report_index import index_of
from fxlsp.ide.trace_view.targets import target_of
from fxlsp.report.locations import Location
from fxlsp.source.text.positions import Span

__all__ = ["Calls", "Item", "Reference", "incoming", "outgoing", "prepare"]


def prepare(snapshot: Snapshot, path: str, line: int, column: int) -> list[Item]:
    """What is meant by a cursor on a class, its ``forward`` or a module call; nothing where none of them ever ran."""
    ends = Ends(snapshot)
    for model in (each.model for each in outline(snapshot, path)):
        forward = model.forward
        if forward is not None and any(name.contains(line, column) for name in (model.name, forward.name)):
            for ran in _ran(snapshot, Reference(path, model.qualname, forward.name.line, forward.name.column)):
                ends.add(ran)
            return ends.items()
    site = call_site_at(snapshot, path, line, column)
    if site is not None:
        inside = [ran for ran in site.ran if ran.entry.call.forward is not None]
        for ran in inside or site.direct:
            ends.add(ran)
    return ends.items()


def incoming(snapshot: Snapshot, reference: Reference) -> list[Calls]:
    """Who calls an item, in every kept report; the places are in the file of the caller."""
    ends = Ends(snapshot)
    for ran in _ran(snapshot, reference):
        caller = ran.entry.caller
        place = None if caller is None else _place(snapshot, ran, caller)
        if caller is not None and place is not None:
            ends.add(replace(ran, entry=caller), place)
    return ends.calls()


def outgoing(snapshot: Snapshot, reference: Reference) -> list[Calls]:
    """What an item calls, in every kept report; the places are in the file of the reference."""
    ends = Ends(snapshot)
    for ran in _ran(snapshot, reference):
        caller = ran.entry.caller if ran.entry.call.forward is None else ran.entry
        for callee in ran.entry.callees:
            called = replace(ran, entry=callee)
            place = None if caller is None else _place(snapshot, called, caller)
            if place is not None:
                ends.add(called, place)
    return ends.calls()


def _ran(snapshot: Snapshot, reference: Reference) -> Iterator[Ran]:
    """Every entry that an item stands for."""
    for state, _ in snapshot.reports_touching(reference.path):
        if state.report is None:
            continue
        index = index_of(state.report)
        for entries in index.calls.of_forward(reference.path).values():
            if not _is_meant(snapshot, reference, Ran(state, index, entries[0])):
                continue
            for entry in entries:
                meant = _modules_of(entry, entry, reference.module) if reference.module else [entry]
                yield from (Ran(state, index, each) for each in meant)


def _is_meant(snapshot: Snapshot, reference: Reference, ran: Ran) -> bool:
    """Whether what ran is the ``forward`` of a reference."""
    target = forward_target(snapshot, ran)
    model = None if target is None else class_around(snapshot, target)
    if model is not None and reference.name:
        return model.qualname == reference.name
    return target is not None and (target.span.line, target.span.column) == (reference.line, reference.column)


def _modules_of(forward: Entry, around: Entry, below: str) -> Iterator[Entry]:
    """The entries of a module without a ``forward`` of its own that a ``forward`` ran, at whatever depth."""
    for callee in around.callees:
        if callee.call.forward is None:
            if path_below(forward.call.module_path, callee.call.module_path) == below:
                yield callee
            yield from _modules_of(forward, callee, below)


def _place(snapshot: Snapshot, called: Ran, caller: Entry) -> Span | None:
    """The expression in the file of the calling ``forward`` that called a module; None if it was edited away."""
    target = target_of(snapshot, called.state, _location(called, caller))
    return None if target is None else target.span


def _location(called: Ran, caller: Entry) -> Location | None:
    call, forward = called.entry.call, caller.call.forward
    if call.location is None or forward is None or call.location.file == forward.file:
        return call.location
    # A function of another file calls the module: what counts here is where that function is called.
    nodes = called.index.report.nodes[call.first_node : call.end_node]
    steps = [
        step.location
        for step in (nodes[0].stack if nodes else ())
        if step.module_path == caller.call.module_path and step.location.file == forward.file
    ]
    return steps[-1] if steps else None
