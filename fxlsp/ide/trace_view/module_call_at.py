"""The module call under the cursor, in every kept report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from fxlsp.engine.state.snapshot import ModelState, Snapshot
from fxlsp.ide.trace_view.call_tree import Entry
from fxlsp.ide.trace_view.cursor_hits import sightings_at
from fxlsp.ide.trace_view.outline import outline
from fxlsp.ide.trace_view.report_index import TraceIndex
from fxlsp.ide.trace_view.targets import Target, target_of
from fxlsp.source.models.models import ModelClass
from fxlsp.source.python.cursor import module_name_at
from fxlsp.source.text.positions import Span


@dataclass(frozen=True, slots=True)
class Ran:
    """An entry of a module, with the trace in which it happened."""

    state: ModelState
    index: TraceIndex
    entry: Entry


@dataclass(frozen=True, slots=True)
class CallSite:
    """An expression that calls a module."""

    name: Span
    """What of it names the module."""
    ran: tuple[Ran, ...]
    """Every entry that it led to, of an ``nn.Sequential`` those of its children too; those of chosen recipes first."""

    @property
    def direct(self) -> Iterator[Ran]:
        """The entries of what is called, not of what a container of torch's called in turn."""
        ran = {id(each.entry) for each in self.ran}
        return (each for each in self.ran if id(each.entry.parent) not in ran)


def call_site_at(snapshot: Snapshot, path: str, line: int, column: int) -> CallSite | None:
    """The module call that a cursor names; None on any other expression, and on other parts of a call."""
    document = snapshot.documents.get(path)
    sightings = sightings_at(snapshot, path, line, column)
    ran = tuple(
        Ran(each.state, each.index, entry)
        for each in sightings
        for entry in each.index.calls.at(path).get(each.place.span, ())
    )
    if document is None or not ran:
        return None
    names = {_attribute(each.entry) for each in ran}
    name = module_name_at(document, sightings[0].span, line, column, names)
    return None if name is None else CallSite(name, ran)


def _attribute(entry: Entry) -> str:
    """The attribute by which a module is reached: ``layers`` for ``stem.layers.0``."""
    words = [part for part in (entry.call.call_path or "").split(".") if not part.isdecimal()]
    return words[-1] if words else ""


def forward_target(snapshot: Snapshot, ran: Ran) -> Target | None:
    """The ``forward`` that ran; None if it is torch's, or was edited away."""
    target = target_of(snapshot, ran.state, ran.entry.call.forward)
    model = None if target is None else class_around(snapshot, target)
    if target is None or model is None or model.forward is None:
        return target
    return replace(target, span=model.forward.name, extent=model.forward.extent)


def class_around(snapshot: Snapshot, target: Target) -> ModelClass | None:
    """The class that defines a ``forward``; None where its file is not open."""
    for each in outline(snapshot, target.path):
        forward = each.model.forward
        # Before Python 3.11 a trace knows the line alone, and that of a decorator if there is one.
        if forward is not None and forward.extent.line <= target.span.line <= forward.name.line:
            return each.model
    return None
