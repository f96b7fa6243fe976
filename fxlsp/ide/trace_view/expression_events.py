"""Nodes and module calls by the expression at which they ran, in one trace.

A report lists nodes and module calls in the order in which they ran. Hovers and hints need the opposite direction: what
ran at this expression? :func:`events_by_file` builds it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from fxlsp.report.graph import ModuleCall, Node, Output
from fxlsp.report.locations import Location
from fxlsp.report.report import Report
from fxlsp.source.text.positions import Span


@dataclass(frozen=True, slots=True)
class Event:
    """A node, or the call of a module that is not a leaf, at an expression."""

    subject: Node | ModuleCall
    first: int
    end: int
    """End of its nodes in the report: ``nodes[first:end]``."""
    parts: tuple[Event, ...] = ()
    """What ran inside the call at the same expression, such as the layers of an ``nn.Sequential``."""

    @property
    def module_path(self) -> str | None:
        """Path of the originating module; "" is the root."""
        return self.subject.module_path

    @property
    def call_path(self) -> str | None:
        """Path by which the call site reached the module, None if ambiguous."""
        return self.subject.call_path

    @property
    def inputs(self) -> tuple[Output | None, ...]:
        """The inputs; none for the graph's output node, which only passes its input on."""
        return () if self.is_result else self.subject.inputs

    @property
    def output(self) -> Output | None:
        """The output, None if unknown."""
        return self.subject.output

    @property
    def title(self) -> str:
        """The leaf module with its arguments, another module's class, or the function."""
        if isinstance(self.subject, ModuleCall):
            return self.subject.type
        if self.subject.op == "call_module":
            return f"{self.subject.module_type or self.subject.target}({self.subject.module_arguments})"
        return self.subject.target

    @property
    def is_argument(self) -> bool:
        """Whether it is an input of the graph, which is located at a parameter."""
        return isinstance(self.subject, Node) and self.subject.op == "placeholder"

    @property
    def is_result(self) -> bool:
        """Whether it is the graph's output, which is located at a ``return``."""
        return isinstance(self.subject, Node) and self.subject.op == "output"


@dataclass(slots=True)
class ExpressionEvents:
    """Everything that ran at one expression in one trace."""

    span: Span
    """In the text that was traced."""
    events: tuple[Event, ...] = ()
    """In the order in which they ran: one for each instance, loop iteration, or call."""
    through: list[Event] = field(default_factory=list)
    """Nodes from a function that this expression called."""


def events_by_file(report: Report) -> Mapping[str, Mapping[Span, ExpressionEvents]]:
    """Return the expressions at which something ran, by file."""
    files: dict[str, dict[Span, ExpressionEvents]] = defaultdict(dict)

    def events_at(location: Location) -> ExpressionEvents:
        span = Span.of(location)
        return files[location.file].setdefault(span, ExpressionEvents(span))

    events: dict[tuple[str, Span], list[Event]] = defaultdict(list)
    for event, location in _located(report):
        events[location.file, Span.of(location)].append(event)
        events_at(location)
    for (file, span), found in events.items():
        files[file][span].events = _nested(found)
    for index, node in enumerate(report.nodes):
        for step in node.stack:
            if step.location != node.location:
                events_at(step.location).through.append(Event(node, index, index + 1))
    return files


def _located(report: Report) -> Iterator[tuple[Event, Location]]:
    for call in report.calls:
        if not call.leaf and call.location is not None:
            yield Event(call, call.first_node, max(call.first_node, call.end_node)), call.location
    for index, node in enumerate(report.nodes):
        if node.location is not None:
            yield Event(node, index, index + 1), node.location


def _nested(events: list[Event]) -> tuple[Event, ...]:
    """Return ``events`` of one expression, with events inside another as its parts.

    Of events that start with the same node, calls come first, outer before inner, so sorting puts a call before
    everything inside it.
    """
    ordered = sorted(events, key=lambda event: (event.first, -event.end))
    return _siblings(ordered, 0, len(ordered))


def _siblings(ordered: list[Event], start: int, stop: int) -> tuple[Event, ...]:
    siblings: list[Event] = []
    while start < stop:
        event = ordered[start]
        after = start + 1
        while after < stop and isinstance(event.subject, ModuleCall) and ordered[after].first < event.end:
            after += 1
        parts = _siblings(ordered, start + 1, after)
        siblings.append(Event(event.subject, event.first, event.end, parts))
        start = after
    return tuple(siblings)
