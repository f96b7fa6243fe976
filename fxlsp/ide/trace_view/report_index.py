"""Index of a report for lookups, built on first use and cached."""

from __future__ import annotations

import re
import threading
from collections import Counter, OrderedDict, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.render.shapes import dtypes
from fxlsp.ide.trace_view.call_tree import ModuleCallTree
from fxlsp.ide.trace_view.expression_events import Event, ExpressionEvents, events_by_file
from fxlsp.ide.trace_view.module_tree import ModuleUsage, Registered, module_tree
from fxlsp.report.graph import Module, ModuleCall, Node, Output
from fxlsp.report.locations import Location
from fxlsp.report.report import Report
from fxlsp.report.symbolic_sizes import DATA_SYMBOL
from fxlsp.source.text.positions import Span

_KEPT_NODES = 50_000
"""Most nodes of all reports whose index is cached, each report counted as one more."""
_LAYER = re.compile(
    r"(?:Lazy)?(?:Conv|ConvTranspose|BatchNorm|MaxPool|AvgPool|AdaptiveAvgPool|AdaptiveMaxPool)([123])d"
)
"""Layers whose input begins with the batch where it has two dimensions more than their name says."""


@dataclass(frozen=True, slots=True)
class UnpackedSizes:
    """Sizes that one statement binds to names: ``B, T, C = x.size()``."""

    whole: Event
    """What is unpacked."""
    parts: tuple[tuple[Location, str], ...]
    """The place of each name in the text that was traced, with its size: a number, or ``u0`` where data decide."""


class ReportIndex:
    """What ran at each location in one report."""

    def __init__(self, report: Report) -> None:
        self.report = report

    def expressions(self, file: str) -> Mapping[Span, ExpressionEvents]:
        """Return the expressions of ``file`` at which something ran.

        The spans are in the text that was traced.
        """
        return self._expressions.get(file, {})

    def forwards(self, file: str) -> Mapping[Span, tuple[ModuleCall, ...]]:
        """Return the calls that ran each ``forward`` in ``file``, by its ``def``.

        The spans are in the text that was traced.
        """
        return self._forwards.get(file, {})

    @cached_property
    def usual_dtype(self) -> str | None:
        """The dtype of most tensors of the trace; it is not repeated after each shape."""
        counted = Counter(dtype for node in self.report.nodes for dtype in dtypes(node.output))
        return counted.most_common(1)[0][0] if counted else None

    def turn(self, node: Node) -> tuple[int, int]:
        """Return which call of its module the node is, and of how many.

        (1, 1) for a node that does not call a leaf module.
        """
        calls = self._calls_by_target.get(node.target, []) if node.op == "call_module" else []
        return (calls.index(node.name) + 1, len(calls)) if calls else (1, 1)

    def node(self, name: str) -> Event | None:
        """Return the node with a name."""
        return self._nodes.get(name)

    @cached_property
    def results(self) -> tuple[Event, ...]:
        """The outputs of the graph."""
        return tuple(event for event in self._nodes.values() if event.is_result)

    @cached_property
    def unpacked_sizes(self) -> tuple[UnpackedSizes, ...]:
        """The sizes that are unpacked to as many names, left of them on the same line."""
        items: dict[str, list[Node]] = defaultdict(list)
        for node in self.report.nodes:
            if node.target == "operator.getitem" and len(node.input_nodes) == 1:
                items[node.input_nodes[0]].append(node)
        found = ((self._nodes[name], nodes) for name, nodes in items.items() if name in self._nodes)
        return tuple(sizes for whole, nodes in found if (sizes := _unpacked(whole, nodes, self.report)) is not None)

    def order_of(self, call: ModuleCall) -> int:
        """Return the number of a call in the order of the report's calls, from 0."""
        return self._order_of_calls[id(call)]

    @cached_property
    def _nodes(self) -> Mapping[str, Event]:
        return {node.name: Event(node, index, index + 1) for index, node in enumerate(self.report.nodes)}

    @cached_property
    def _order_of_calls(self) -> Mapping[int, int]:
        return {id(call): number for number, call in enumerate(self.report.calls)}

    @cached_property
    def calls(self) -> ModuleCallTree:
        """The module calls as a tree."""
        return ModuleCallTree(self.report)

    @cached_property
    def modules(self) -> Mapping[str, Registered]:
        """Every module with its children, by path."""
        return module_tree(self.report)

    @cached_property
    def usage(self) -> ModuleUsage:
        """Which modules ran, and what they cost."""
        return ModuleUsage(self.report)

    def module(self, path: str) -> Module | None:
        """Return the module registered under a path, its own or an alias."""
        found = self.modules.get(self._paths.get(path, path))
        return None if found is None else found.module

    @cached_property
    def _paths(self) -> Mapping[str, str]:
        """A module's own path by each alias."""
        return {alias: module.path for module in self.report.modules for alias in module.aliases}

    @cached_property
    def _expressions(self) -> Mapping[str, Mapping[Span, ExpressionEvents]]:
        return events_by_file(self.report)

    @cached_property
    def _forwards(self) -> Mapping[str, Mapping[Span, tuple[ModuleCall, ...]]]:
        files: dict[str, dict[Span, tuple[ModuleCall, ...]]] = defaultdict(dict)
        for call in self.report.calls:
            if call.forward is not None:
                calls, span = files[call.forward.file], Span.of(call.forward)
                calls[span] = (*calls.get(span, ()), call)
        return files

    @cached_property
    def _calls_by_target(self) -> Mapping[str, list[str]]:
        calls: dict[str, list[str]] = defaultdict(list)
        for node in self.report.nodes:
            if node.op == "call_module":
                calls[node.target].append(node.name)
        return calls


def index_of(report: Report) -> ReportIndex:
    """Return the index of ``report``, the same one while it is cached."""
    with _lock:
        index = _indexes.get(id(report))
        if index is None or index.report is not report:
            index = _indexes[id(report)] = ReportIndex(report)
        _indexes.move_to_end(id(report))
        while len(_indexes) > 1 and sum(len(each.report.nodes) + 1 for each in _indexes.values()) > _KEPT_NODES:
            _indexes.popitem(last=False)
        return index


def drop_replaced(snapshot: Snapshot) -> None:
    """Drop the cached indexes, and with them the reports, that a snapshot has no more.

    Each edit leads to a new report, also one that is undone, so no index of an earlier report is looked up again.
    """
    present = {id(state.report) for state in snapshot.models.values()}
    with _lock:
        for number in _indexes.keys() - present:
            del _indexes[number]


_indexes: OrderedDict[int, ReportIndex] = OrderedDict()
"""By identity, because a report is too large to be hashed or compared."""
_lock = threading.Lock()
"""Of the indexes: the page of a graph is written on a thread."""


def batch_size(report: Report) -> int | None:
    """Return the first size of all inputs and results of a model, if a layer treats it as the batch.

    None if that is unknown: the first dimension of a sequence may be its length.
    """
    inputs = [node.output for node in report.nodes if node.op == "placeholder"]
    results = [node.inputs for node in report.nodes if node.op == "output"]
    tensors = [*_tensors(inputs), *_tensors([each for result in results for each in result])]
    sizes = {shape[0] if shape else None for shape in tensors}
    if not inputs or not results or len(sizes) != 1:
        return None
    (size,) = sizes
    return size if size is not None and any(_is_batch_of(node, size) for node in report.nodes) else None


def _is_batch_of(node: Node, size: int) -> bool:
    layer = _LAYER.fullmatch(node.module_type or "") if node.op == "call_module" else None
    shape = next(_tensors(node.inputs[:1]), None)
    return layer is not None and shape is not None and len(shape) == int(layer[1]) + 2 and shape[0] == size


def _tensors(outputs: list[Output | None] | tuple[Output | None, ...]) -> Iterator[list[int]]:
    for output in outputs:
        if output is None:
            continue
        if "shape" in output:
            yield output["shape"]
        elif "list" in output:
            yield from _tensors(output["list"])
        elif "dict" in output:
            yield from _tensors(list(output["dict"].values()))


def _unpacked(whole: Event, items: Sequence[Node], report: Report) -> UnpackedSizes | None:
    """Return the sizes that items of one value are, if each is bound to a name; None otherwise."""
    place, sizes = whole.subject.location, _sizes(whole, report)
    parts = [(item.location, item.inputs[1:]) for item in items if item.location is not None]
    parts = [(at, index) for at, index in parts if place is not None and _is_left_of(at, place)]
    if len(sizes) < 2 or [index for _, index in parts] != [({"value": number},) for number in range(len(sizes))]:
        return None
    return UnpackedSizes(whole, tuple((at, size) for (at, _), size in zip(parts, sizes, strict=True)))


def _is_left_of(part: Location, whole: Location) -> bool:
    """Return whether a place is before another one on its only line."""
    is_same_line = part.line == part.end_line == whole.line and (part.file, part.cell) == (whole.file, whole.cell)
    return is_same_line and part.end_column <= whole.column


def _sizes(whole: Event, report: Report) -> list[str]:
    """Return the items of a tuple of whole numbers as text; none for any other value.

    Which sizes depend on data is known only of the shape of a tensor.
    """
    values = [(item or {}).get("value") for item in (whole.output or {}).get("list", ())]
    if not all(type(value) is int for value in values):
        return []
    tensor = whole.inputs[0] if whole.inputs else None
    if tensor is not None and tensor.get("shape") == values:
        dims = zip(values, tensor.get("symbolic", values), strict=True)
        return [str(dim if DATA_SYMBOL.search(str(dim)) else value) for value, dim in dims]
    return [] if None in report.symbols.values() else [str(value) for value in values]
