"""Symbolic sizes of a traced graph: from its runs at several sizes to an expression for each dimension."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import torch
import torch.fx

from ....report.report import Report
from ....report.symbolic_sizes import UNKNOWN_SHAPE, SymbolicSizes, tensors_in
from ...model import module_tree
from ...model.capture.feeding import ModelWithInputs
from ...model.capture.interpreter import NodeValue
from .axes import AxisGroup, InputAxes
from .expressions import SymbolicSize
from .fitting import Series, SizeFitter
from .free_sizes import FreeSizes
from .graph_runs import GraphRuns, RunSizes, layout, sizes_in
from .names import names_of
from .windows import windows_of

_SECONDS = 0.75
_SECONDS_OF_A_NODE = 0.0006
"""Time of all runs: for a small model, and for each node of a larger one."""

_LEAST_RUNS = 4
"""Number of runs, the trace itself included, of which the last is to verify what was fitted to the others."""

_FEW_RUNS = 2
"""Runs that tell whether something holds at other sizes: those with which free dimensions are found."""

Dims = tuple[str | int, ...]
"""Dimensions of a tensor as text, or as the number where there is no expression."""


@dataclass(frozen=True)
class GraphValues:
    """Graph with the values of its nodes in the trace."""

    nodes: Sequence[torch.fx.Node]
    values: Mapping[torch.fx.Node, NodeValue]
    report: Report
    """The report that was assembled from them."""


def symbolic_sizes(subject: ModelWithInputs, graph: GraphValues) -> SymbolicSizes | None:
    """Return expressions for the sizes of a graph; None if no dimension of the inputs may vary."""
    if subject.feed.inputs is None:
        return None
    model = subject.built.model
    axes = InputAxes(subject.feed.inputs, subject.mode)
    free = _free_sizes(subject, graph, axes)
    if not free.find():
        return None
    base = [sizes_in(None if value is None else value.shown) for value in map(graph.values.get, graph.nodes)]
    names = names_of(model, axes, free.groups)
    fit = fitted_shapes(model, graph.nodes, names, base, free.runs())
    return None if fit is None else compact(fit, graph, {name: group.size for group, name in names.items()})


def shapes_at_other_sizes(
    subject: ModelWithInputs, graph: GraphValues, with_batch: bool
) -> list[dict[str, tuple[int, ...]]]:
    """Return the shapes of nodes by name in runs at other sizes of the inputs; empty if no dimension may vary.

    Nodes with another output than one tensor are left out.

    Args:
        subject: the model and its inputs.
        graph: its graph.
        with_batch: whether the batch has other sizes too. If so and it may not vary, there are no runs.
    """
    if subject.feed.inputs is None:
        return []
    axes = InputAxes(subject.feed.inputs, subject.mode)
    if not with_batch:
        axes.groups = tuple(group for group in axes.groups if not group.is_batch)
    free = _free_sizes(subject, graph, axes)
    if not free.find() or (with_batch and not any(group.is_batch for group in free.groups)):
        return []
    return [
        {node.name: sizes.shapes[0] for node, sizes in zip(graph.nodes, run, strict=True) if len(sizes.shapes) == 1}
        for _, run in islice(free.runs(), _FEW_RUNS)
    ]


def _free_sizes(subject: ModelWithInputs, graph: GraphValues, axes: InputAxes) -> FreeSizes:
    is_spent = deadline(seconds_for(len(graph.nodes)))
    runs = GraphRuns(subject.built.model, list(graph.nodes), subject.mode)
    return FreeSizes(axes, lambda sizes: runs.run(axes.inputs_at(sizes), is_spent), is_spent)


def fitted_shapes(
    model: torch.nn.Module,
    nodes: Sequence[torch.fx.Node],
    names: Mapping[AxisGroup, str],
    base: RunSizes,
    runs: Iterator[tuple[dict[AxisGroup, int], RunSizes]],
) -> dict[torch.fx.Node, tuple[Dims, ...]] | None:
    """Return for each node the dimensions of the tensors in its output.

    A run more is made as long as a size is not explained, or not at the sizes of the last run.

    Args:
        model: the model, whose layers are looked up.
        nodes: the nodes of its graph.
        names: the names of the groups of dimensions that vary.
        base: the sizes of all nodes in the trace itself.
        runs: runs at other sizes.
    """
    series = {name: [group.size] for group, name in names.items()}
    seen = [base]
    fit = None
    for sizes, run in runs:
        for group, name in names.items():
            series[name].append(sizes[group])
        seen.append(run)
        if len(seen) >= _LEAST_RUNS:
            fit = _Fit(model, {name: tuple(values) for name, values in series.items()}, seen)
            shapes = fit.shapes(nodes)
            if not fit.unexplained:
                break
    return None if fit is None else shapes


def seconds_for(nodes: int) -> float:
    """Return the processor time that the runs of a graph of so many nodes may take, seconds."""
    return _SECONDS + _SECONDS_OF_A_NODE * nodes


def deadline(seconds: float) -> Callable[[], bool]:
    """Return a function that returns whether so much processor time has passed since now."""
    # Processor time, so that the result does not depend on what else the machine does.
    end = time.process_time() + seconds
    return lambda: time.process_time() > end


class _Fit:
    """Expressions for the sizes of all nodes, verified by the last run."""

    def __init__(self, model: torch.nn.Module, symbols: Mapping[str, Series], runs: Sequence[RunSizes]) -> None:
        """
        Args:
            model: the model, whose layers are looked up.
            symbols: the value of each symbol in each run.
            runs: the sizes of all nodes in each run; the first is the trace itself.
        """
        self._modules = dict(module_tree.named_modules(model, remove_duplicate=False))
        self._fitted, self._verifying = list(runs[:-1]), runs[-1]
        self._fitter = SizeFitter({name: series[:-1] for name, series in symbols.items()})
        self._values = {name: series[-1] for name, series in symbols.items()}
        self._series: dict[torch.fx.Node, tuple[Series, ...]] = {}
        self.unexplained = False
        """Whether a size varies and has no expression, or one that the last run refutes."""

    def shapes(self, nodes: Sequence[torch.fx.Node]) -> dict[torch.fx.Node, tuple[Dims, ...]]:
        """Return for each node the dimensions of the tensors in its output, as far as all runs have the same ones."""
        return {node: self._shapes(index, node) for index, node in enumerate(nodes)}

    def _shapes(self, index: int, node: torch.fx.Node) -> tuple[Dims, ...]:
        runs = [run[index] for run in self._fitted]
        last = self._verifying[index]
        if len({layout(run) for run in (*runs, last)}) > 1:
            return ()
        series = tuple(zip(*(run.all for run in runs), strict=True))
        self._series[node] = series
        operands = [self._series.get(operand, ()) for operand in node.all_input_nodes]
        module = self._modules.get(str(node.target)) if node.op == "call_module" else None
        windows = windows_of(node, module)
        fitted = [
            self._verified(self._fitter.fitted(each, operands, windows), seen)
            for each, seen in zip(series, last.all, strict=True)
        ]
        left = iter(zip(fitted, runs[0].all, strict=True))
        return tuple(tuple(dim_text(*next(left)) for _ in shape) for shape in runs[0].shapes)

    def _verified(self, size: SymbolicSize | None, seen: int) -> SymbolicSize | None:
        """Return an expression if it yields what the run has that it was not made from."""
        if size is not None and size.value(self._values) == seen:
            return size
        self.unexplained = True
        return None


def dim_text(size: SymbolicSize | None, number: int) -> str | int:
    """Return a dimension as the text of its expression; a number without symbols, or without an expression."""
    if size is None:
        return number
    constant = size.constant
    return size.text if constant is None else constant


def compact(
    shapes: Mapping[torch.fx.Node, tuple[Dims, ...]], graph: GraphValues, symbols: Mapping[str, int | None]
) -> SymbolicSizes:
    """Return the sizes of a report's nodes and calls, each different shape once."""
    numbers: dict[Dims, int] = {}
    of_tensor: dict[int, int] = {}
    nodes = []
    for node in graph.nodes:
        outputs = [_number(shape, numbers) for shape in shapes[node]]
        inputs = [
            _number(shape, numbers) for each in (*node.args, *node.kwargs.values()) for shape in _in(each, shapes)
        ]
        nodes.append([*outputs, *inputs])
        known = graph.values.get(node)
        # The report's calls have the very objects that the report's nodes have.
        tensors = tensors_in(None if known is None else known.shown)
        of_tensor.update({id(each): index for each, index in zip(tensors, outputs, strict=False)})
    calls = [
        [
            of_tensor.get(id(tensor), UNKNOWN_SHAPE)
            for output in (*call.inputs, call.output)
            for tensor in tensors_in(output)
        ]
        for call in graph.report.calls
    ]
    return SymbolicSizes(symbols, tuple(map(list, numbers)), tuple(nodes), tuple(calls))


def _number(shape: Dims, numbers: dict[Dims, int]) -> int:
    is_symbolic = any(isinstance(dim, str) for dim in shape)
    return numbers.setdefault(shape, len(numbers)) if is_symbolic else UNKNOWN_SHAPE


def _in(argument: Any, shapes: Mapping[torch.fx.Node, tuple[Dims, ...]]) -> Iterator[Dims]:
    """Yield the shapes of the tensors in an argument of a node, in the order of its JSON."""
    if isinstance(argument, torch.fx.Node):
        yield from shapes.get(argument, ())
    elif isinstance(argument, (list, tuple)):
        for item in argument:
            yield from _in(item, shapes)
    elif isinstance(argument, dict):
        for item in argument.values():
            yield from _in(item, shapes)
