"""A report as answers look things up in it; built when first asked for, and kept while the report is in use."""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Mapping
from functools import cached_property

from fxlsp.ide.render.shapes import dtypes
from fxlsp.ide.trace_view.call_tree import ModuleCallTree
from fxlsp.ide.trace_view.expression_events import Event, ExpressionEvents, events_by_file
from fxlsp.ide.trace_view.module_tree import Registered, module_tree
from fxlsp.ide.trace_view.module_usage import ModuleUsage
from fxlsp.report.graph import Module, ModuleCall, Node
from fxlsp.report.locations import Location
from fxlsp.report.report import Report
from fxlsp.source.text.positions import Span

_KEPT_NODES = 50_000
"""Nodes of all reports whose index is kept; some tens of megabytes."""


class ReportIndex:
    """What stands where in one report."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def expressions(self, file: str) -> Mapping[Span, ExpressionEvents]:
        """The expressions of ``file`` at which something ran, by their span in the text that was traced."""
        return self._expressions.get(file, {})

    def forwards(self, file: str) -> Mapping[Location, tuple[ModuleCall, ...]]:
        """The calls that ran each ``forward`` defined in ``file``, by the place of its ``def``."""
        return self._forwards.get(file, {})

    @cached_property
    def usual_dtype(self) -> str | None:
        """The dtype that most tensors of the trace have; it is not repeated beside each shape."""
        counted = Counter(dtype for node in self.report.nodes for dtype in dtypes(node.output))
        return counted.most_common(1)[0][0] if counted else None

    def turn(self, node: Node) -> tuple[int, int]:
        """Which call of its module the node is, of how many; (1, 1) for what calls no leaf module."""
        calls = self._calls_by_target.get(node.target, []) if node.op == "call_module" else []
        return (calls.index(node.name) + 1, len(calls)) if calls else (1, 1)

    def node(self, name: str) -> Event | None:
        """The node of a name."""
        return self._nodes.get(name)

    def order_of(self, call: ModuleCall) -> int:
        """Which of the report's calls it is, in the order in which they were entered, from 0."""
        return self._order_of_calls[id(call)]

    @cached_property
    def _nodes(self) -> Mapping[str, Event]:
        return {node.name: Event(node, index, index + 1) for index, node in enumerate(self.report.nodes)}

    @cached_property
    def _order_of_calls(self) -> Mapping[int, int]:
        return {id(call): number for number, call in enumerate(self.report.calls)}

    @cached_property
    def calls(self) -> ModuleCallTree:
        """Which module call ran inside which."""
        return ModuleCallTree(self.report)

    @cached_property
    def modules(self) -> Mapping[str, Registered]:
        """Every module with what is below it, by path."""
        return module_tree(self.report)

    @cached_property
    def usage(self) -> ModuleUsage:
        """Which of them ran, and what they cost."""
        return ModuleUsage(self.report)

    def module(self, path: str) -> Module | None:
        """The module that is registered under a path, its own or another one."""
        found = self.modules.get(self._paths.get(path, path))
        return None if found is None else found.module

    @cached_property
    def _paths(self) -> Mapping[str, str]:
        """A module's own path by each other one."""
        return {alias: module.path for module in self.report.modules for alias in module.aliases}

    @cached_property
    def _expressions(self) -> Mapping[str, Mapping[Span, ExpressionEvents]]:
        return events_by_file(self.report)

    @cached_property
    def _forwards(self) -> Mapping[str, Mapping[Location, tuple[ModuleCall, ...]]]:
        files: dict[str, dict[Location, tuple[ModuleCall, ...]]] = defaultdict(dict)
        for call in self.report.calls:
            if call.forward is not None:
                calls = files[call.forward.file]
                calls[call.forward] = (*calls.get(call.forward, ()), call)
        return files

    @cached_property
    def _calls_by_target(self) -> Mapping[str, list[str]]:
        calls: dict[str, list[str]] = defaultdict(list)
        for node in self.report.nodes:
            if node.op == "call_module":
                calls[node.target].append(node.name)
        return calls


def index_of(report: Report) -> ReportIndex:
    """The index of ``report``, the same one each time while the report is among the latest asked for."""
    index = _indexes.get(id(report))
    if index is None or index.report is not report:
        index = _indexes[id(report)] = ReportIndex(report)
    _indexes.move_to_end(id(report))
    while len(_indexes) > 1 and sum(len(each.report.nodes) for each in _indexes.values()) > _KEPT_NODES:
        _indexes.popitem(last=False)
    return index


_indexes: OrderedDict[int, ReportIndex] = OrderedDict()
"""By identity: a report is too large to be hashed or compared."""
