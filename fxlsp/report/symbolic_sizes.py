"""Sizes of a report's tensors as expressions of named symbols, sent apart from the report.

The expressions follow the graph, which is shown before they are known.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .graph import Output
from .report import Report
from .serialization import JsonObject

SymbolicShape = list[Any]
"""Dimensions of one tensor: the text of an expression, or the number where there is none."""

DATA_SYMBOL = re.compile(r"u\d+")
"""Names of sizes that depend on data: ``u0``, ``u1``. Whatever the style, these are not written as numbers."""
UNKNOWN_SHAPE = -1
"""In the place of a tensor's shape: no dimension of it has an expression."""


@dataclass(frozen=True, slots=True)
class SymbolicSizes(JsonObject):
    """Expressions for the dimensions of the tensors of a report."""

    symbols: Mapping[str, int | None] = field(default_factory=dict)
    """Value of each symbol in the trace; None for a size that depends on data."""
    shapes: tuple[Any, ...] = ()
    """Different symbolic shapes (:data:`SymbolicShape`)."""
    nodes: tuple[Any, ...] = ()
    """For each node, a list of indices into ``shapes``: one for each tensor of its output, then of its inputs."""
    calls: tuple[Any, ...] = ()
    """The same for each call: the tensors of its inputs, then of its output."""

    def applied(self, report: Report) -> Report:
        """Return a report with these sizes.

        What does not fit it, since it has another graph, is left out.
        """
        if len(self.nodes) != len(report.nodes) or len(self.calls) != len(report.calls):
            return report
        nodes = []
        for node, indices in zip(report.nodes, self.nodes, strict=True):
            output, *inputs = self._applied((node.output, *node.inputs), indices)
            nodes.append(replace(node, output=output, inputs=tuple(inputs)))
        calls = []
        for call, indices in zip(report.calls, self.calls, strict=True):
            *inputs, output = self._applied((*call.inputs, call.output), indices)
            calls.append(replace(call, inputs=tuple(inputs), output=output))
        return replace(report, symbols=dict(self.symbols), nodes=tuple(nodes), calls=tuple(calls))

    def _applied(self, outputs: Sequence[Output | None], indices: Sequence[int]) -> list[Output | None]:
        tensors = sum(1 for output in outputs for _ in tensors_in(output))
        if tensors != len(indices):
            return list(outputs)
        left = iter(indices)
        return [self._with_shapes(output, left) for output in outputs]

    def _with_shapes(self, output: Output | None, indices: Iterator[int]) -> Output | None:
        if output is None:
            return None
        if "shape" in output:
            index = next(indices)
            return output if index == UNKNOWN_SHAPE else _with_shape(output, self.shapes[index])
        if "list" in output:
            return {**output, "list": [self._with_shapes(item, indices) for item in output["list"]]}
        if "dict" in output:
            return {**output, "dict": {name: self._with_shapes(each, indices) for name, each in output["dict"].items()}}
        return output


def _with_shape(output: Output, shape: SymbolicShape) -> Output:
    sizes = output["shape"]
    if len(sizes) != len(shape):
        return output
    dims = [dim if isinstance(dim, str) else size for dim, size in zip(shape, sizes, strict=True)]
    return {**output, "symbolic": dims} if any(isinstance(dim, str) for dim in dims) else output


def tensors_in(output: Output | None) -> Iterator[Output]:
    """Yield the tensors of a value, at any depth, in their order."""
    if output is None:
        return
    if "shape" in output:
        yield output
    for item in output.get("list", ()):
        yield from tensors_in(item)
    for item in output.get("dict", {}).values():
        yield from tensors_in(item)
