"""Sizes that depend on data: a symbol for each size that differs when the graph runs on other data of the same sizes.

What one random run has is no fact about the model: of ``x[x > 0]`` it would show ``(37,)``, and the next one ``(41,)``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count

import torch.fx

from ....report.symbolic_sizes import SymbolicSizes
from ...model.capture.interpreter import NodeValue
from .expressions import SymbolicSize, symbol
from .fitting import Series, SizeFitter
from .graph_runs import RunSizes, layout, sizes_in
from .sizes import Dims, GraphValues, compact, dim_text

Values = Mapping[torch.fx.Node, NodeValue]
"""Values of the nodes of a graph in one run."""

_ENOUGH_FOR_EXPRESSIONS = 4
"""Number of runs from which a size may be taken for an expression of others: small numbers agree by chance in fewer."""


def data_dependent_sizes(
    graph: GraphValues, runs: Iterator[Values], is_spent: Callable[[], bool]
) -> SymbolicSizes | None:
    """Return symbols for the sizes that depend on data; None if none of them does.

    Args:
        graph: the graph, with its values in the trace.
        runs: further runs on other data; one in which an operation fails says nothing.
        is_spent: returns whether there is no time for another run.
    """
    base = _sizes(graph, graph.values)
    seen = [base]
    for values in runs:
        sizes = _sizes(graph, values)
        if all(layout(first) == layout(other) for first, other in zip(base, sizes, strict=True)):
            seen.append(sizes)
        if is_spent():
            break
    if all(sizes == base for sizes in seen):
        return None
    named = _Naming(seen)
    shapes = {node: named.shapes(index, node) for index, node in enumerate(graph.nodes)}
    return compact(shapes, graph, dict.fromkeys(named.names))


def _sizes(graph: GraphValues, values: Values) -> RunSizes:
    known = map(values.get, graph.nodes)
    return [sizes_in(None if value is None else value.shown) for value in known]


class _Naming:
    """Symbols for the sizes that differ, in the order of the nodes."""

    def __init__(self, runs: Sequence[RunSizes]) -> None:
        self.names: list[str] = []
        self._runs = runs
        self._fitter = SizeFitter({}, guesses_windows=False)
        self._series: dict[torch.fx.Node, tuple[Series, ...]] = {}
        self._numbers = count()

    def shapes(self, index: int, node: torch.fx.Node) -> tuple[Dims, ...]:
        """Return the dimensions of the tensors in a node's output."""
        series = tuple(zip(*(run[index].all for run in self._runs), strict=True))
        self._series[node] = series
        operands = [self._series.get(operand, ()) for operand in node.all_input_nodes]
        sizes = iter([(self._size(each, operands), each[0]) for each in series])
        return tuple(tuple(dim_text(*next(sizes)) for _ in shape) for shape in self._runs[0][index].shapes)

    def _size(self, series: Series, operands: Sequence[Sequence[Series]]) -> SymbolicSize:
        can_fit = len(series) >= _ENOUGH_FOR_EXPRESSIONS
        known = self._fitter.fitted(series, operands) if can_fit else self._fitter.known(series)
        if known is not None:
            return known
        name = f"u{next(self._numbers)}"
        self.names.append(name)
        self._fitter.add(series, symbol(name))
        return symbol(name)
