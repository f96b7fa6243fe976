"""Tree of the module calls of one trace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from fxlsp.report.graph import ModuleCall
from fxlsp.report.locations import Location
from fxlsp.report.report import Report
from fxlsp.source.text.positions import Span


@dataclass(eq=False, slots=True)
class NestedCall:
    """Call of a module, leaf or not, in the tree of calls."""

    call: ModuleCall
    parent: NestedCall | None
    """None for the root."""
    children: list[NestedCall] = field(default_factory=list)
    """In the order in which they were called."""

    @property
    def caller(self) -> NestedCall | None:
        """The nearest call around this one whose ``forward`` is workspace code.

        Calls of torch's containers are skipped.
        """
        around = self.parent
        while around is not None and around.call.forward is None:
            around = around.parent
        return around

    @property
    def callees(self) -> Iterator[NestedCall]:
        """What the module calls.

        A container of torch is replaced by what it runs; it is itself a callee only for the leaf modules in it.
        """
        for child in self.children:
            if child.call.leaf or child.call.forward is not None:
                yield child
                continue
            inner = list(child.callees)
            if any(each.is_end for each in inner):
                yield child
            yield from (each for each in inner if not each.is_end)

    @property
    def is_end(self) -> bool:
        """Whether this is the call of a leaf module of torch, which has no code to show."""
        return self.call.leaf and self.call.forward is None


class ModuleCallTree:
    """Module calls of a report as a tree."""

    def __init__(self, report: Report) -> None:
        self.report = report

    @cached_property
    def nested_calls(self) -> Sequence[NestedCall]:
        """Every call, in the order of the report: parents first."""
        made: list[NestedCall] = []
        around: list[NestedCall] = []
        for call in self.report.calls:
            while around and not _encloses(around[-1].call, call):
                around.pop()
            nested = NestedCall(call, around[-1] if around else None)
            if nested.parent is not None:
                nested.parent.children.append(nested)
            made.append(nested)
            around.append(nested)
        return made

    def at(self, file: str) -> Mapping[Span, Sequence[NestedCall]]:
        """Return the calls by the expression of ``file`` that made them.

        The expression that calls an ``nn.Sequential`` has all calls in it too.
        """
        return self._by_place.get(file, {})

    def of_forward(self, file: str) -> Mapping[Location, Sequence[NestedCall]]:
        """Return the calls that ran each ``forward`` in ``file``, by its ``def``."""
        return self._by_forward.get(file, {})

    @cached_property
    def by_module(self) -> Mapping[str, Sequence[NestedCall]]:
        """The calls of each module, by its path."""
        found: dict[str, list[NestedCall]] = defaultdict(list)
        for nested in self.nested_calls:
            found[nested.call.module_path].append(nested)
        return found

    @cached_property
    def _by_place(self) -> Mapping[str, Mapping[Span, Sequence[NestedCall]]]:
        files: dict[str, dict[Span, list[NestedCall]]] = defaultdict(lambda: defaultdict(list))
        for nested in self.nested_calls:
            if nested.call.location is not None:
                files[nested.call.location.file][Span.of(nested.call.location)].append(nested)
        return files

    @cached_property
    def _by_forward(self) -> Mapping[str, Mapping[Location, Sequence[NestedCall]]]:
        files: dict[str, dict[Location, list[NestedCall]]] = defaultdict(lambda: defaultdict(list))
        for nested in self.nested_calls:
            if nested.call.forward is not None:
                files[nested.call.forward.file][nested.call.forward].append(nested)
        return files


def _encloses(outer: ModuleCall, inner: ModuleCall) -> bool:
    """Return whether ``inner``, which starts later, starts before ``outer`` returns.

    For a call without nodes, the node numbers do not show whether it is at the end of another call or directly after
    it: then its module path decides.
    """
    if inner.first_node < outer.end_node or not outer.module_path:
        return True
    return inner.first_node == outer.end_node and inner.module_path.startswith(f"{outer.module_path}.")
