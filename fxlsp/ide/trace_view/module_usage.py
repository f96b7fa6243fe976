"""Use of the modules of one trace: where constructed, which calls ran, their cost."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from functools import cached_property

from fxlsp.ide.trace_view.expression_events import Event
from fxlsp.report.graph import Module
from fxlsp.report.report import Report
from fxlsp.source.text.positions import Span


class ModuleUsage:
    """Use of each module, by module path."""

    def __init__(self, report: Report) -> None:
        self._report = report

    def made_in(self, file: str) -> Mapping[Span, tuple[Module, ...]]:
        """Return the modules that each expression of ``file`` constructed.

        The spans are in the text that was traced.
        """
        return self._made.get(file, {})

    def calls_of(self, path: str) -> tuple[Event, ...]:
        """Return the calls of one module; for a leaf its nodes, which have more facts."""
        return self._calls.get(path, ())

    def ran(self, module: Module) -> bool:
        """Return whether the module was called, or a module below it."""
        return module.calls > 0 or module.path in self._flops_below

    def flops_below(self, path: str) -> int | None:
        """Return the FLOPs of the nodes in a module or below it; None if one is unknown."""
        return self._flops_below.get(path, 0)

    def flops_in(self, path: str) -> int | None:
        """Return the FLOPs of the nodes in a module itself; None if one is unknown."""
        return self._flops_in.get(path, 0)

    @cached_property
    def _made(self) -> Mapping[str, Mapping[Span, tuple[Module, ...]]]:
        files: dict[str, dict[Span, tuple[Module, ...]]] = defaultdict(dict)
        for module in self._report.modules:
            if module.location is not None:
                made, span = files[module.location.file], Span.of(module.location)
                made[span] = (*made.get(span, ()), module)
        return files

    @cached_property
    def _calls(self) -> Mapping[str, tuple[Event, ...]]:
        events: dict[str, tuple[Event, ...]] = defaultdict(tuple)
        for call in self._report.calls:
            if not call.leaf:
                events[call.module_path] += (Event(call, call.first_node, max(call.first_node, call.end_node)),)
        for index, node in enumerate(self._report.nodes):
            if node.op == "call_module" and node.module_path is not None:
                events[node.module_path] += (Event(node, index, index + 1),)
        return events

    @cached_property
    def _flops_in(self) -> Mapping[str, int | None]:
        sums: dict[str, int | None] = {}
        for node in self._report.nodes:
            if node.module_path is not None and node.op not in ("placeholder", "output"):
                sums[node.module_path] = _plus(sums.get(node.module_path, 0), node.flops)
        return sums

    @cached_property
    def _flops_below(self) -> Mapping[str, int | None]:
        sums: dict[str, int | None] = {}
        for path, flops in self._flops_in.items():
            parts = path.split(".") if path else []
            for length in range(len(parts) + 1):
                above = ".".join(parts[:length])
                sums[above] = _plus(sums.get(above, 0), flops)
        return sums


def _plus(one: int | None, other: int | None) -> int | None:
    return None if one is None or other is None else one + other
