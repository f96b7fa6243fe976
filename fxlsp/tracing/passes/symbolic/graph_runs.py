"""Runs of a recorded graph on fake inputs of other sizes, of which only the sizes of all nodes are recorded.

The graph itself is run again, not the model: the sizes that its code reads (``x.shape[0]``) are nodes of the graph. A
size that was a plain number when the graph was recorded stays that number, as it would if the graph was run by a user.
A run that fails says that the model does not take these sizes.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import torch
import torch.fx

from ....report.graph import Output
from ...isolation.sandbox.accelerators import DevicesAreCpu, on_cpu
from ...isolation.torch_private import FakeTensorMode, Operator, is_batch_norm, no_dispatch, tree_map
from ...isolation.torch_private.modules import batches_of_one
from ...model import module_tree
from ...model.building.fake_tensors import OnCpu, as_fake
from ...model.capture.costs import is_real
from ...model.capture.interpreter import mutable
from ...model.capture.outputs import output_of


@dataclass(frozen=True, slots=True)
class NodeSizes:
    """Sizes of the tensors in the output of a node, and the numbers in it."""

    shapes: tuple[tuple[int, ...], ...]
    numbers: tuple[int, ...]

    @property
    def all(self) -> tuple[int, ...]:
        """All sizes, one after the other."""
        return (*(size for shape in self.shapes for size in shape), *self.numbers)


NOTHING = NodeSizes((), ())
RunSizes = list[NodeSizes]
"""Sizes of every node of a graph, in its order."""


def layout(sizes: NodeSizes) -> tuple[tuple[int, ...], int]:
    """Return the ranks of the tensors, and how many numbers there are."""
    return tuple(map(len, sizes.shapes)), len(sizes.numbers)


def sizes_in(output: Output | None) -> NodeSizes:
    """Return the sizes in a value, given as JSON."""
    shapes: list[tuple[int, ...]] = []
    numbers: list[int] = []
    _collect(output, shapes, numbers)
    return NodeSizes(tuple(shapes), tuple(numbers)) if shapes or numbers else NOTHING


def _collect(output: Output | None, shapes: list[tuple[int, ...]], numbers: list[int]) -> None:
    if output is None:
        return
    if "shape" in output:
        shapes.append(tuple(output["shape"]))
    elif type(output.get("value")) is int:
        numbers.append(output["value"])
    for item in output.get("list", ()):
        _collect(item, shapes, numbers)
    for item in output.get("dict", {}).values():
        _collect(item, shapes, numbers)


class GraphRuns:
    """Graph that can be run on inputs of any size."""

    def __init__(self, root: torch.nn.Module, nodes: list[torch.fx.Node], mode: FakeTensorMode) -> None:
        """
        Args:
            root: the model.
            nodes: the nodes of its graph, all of one graph.
            mode: the mode of the fake tensors of the model.
        """
        self._root = root
        self._nodes = nodes
        self._mode = mode

    def run(self, inputs: Mapping[str, Any], is_spent: Callable[[], bool]) -> RunSizes | None:
        """Return the sizes of all nodes; None if the graph does not run, or the time is spent.

        Args:
            inputs: arguments of ``forward`` by the names of the placeholders.
            is_spent: returns whether the time is spent; called before each node.
        """
        interpreter = _SizeInterpreter(self._root, self._nodes[0].graph, self._mode, inputs, is_spent)
        try:
            with DevicesAreCpu(), self._mode, _ShapesOnly(), batches_of_one(), torch.no_grad():
                interpreter.run(enable_io_processing=False)
        except Exception:
            return None
        return [interpreter.sizes.get(node, NOTHING) for node in self._nodes]


class _OutOfTimeError(Exception):
    """The time of the run is spent."""


class _SizeInterpreter(torch.fx.Interpreter):
    def __init__(
        self,
        root: torch.nn.Module,
        graph: torch.fx.Graph,
        mode: FakeTensorMode,
        inputs: Mapping[str, Any],
        is_spent: Callable[[], bool],
    ) -> None:
        with module_tree.methods_visible(root):
            super().__init__(root, garbage_collect_values=True, graph=graph)
        self.sizes: dict[torch.fx.Node, NodeSizes] = {}
        self._mode = mode
        self._inputs = inputs
        self._is_spent = is_spent

    def run_node(self, n: torch.fx.Node) -> Any:
        if self._is_spent():
            raise _OutOfTimeError
        output = self._unchanged(n)
        if output is None:
            output = super().run_node(n)
        self.sizes[n] = sizes_in(output_of(output))
        return output

    def _unchanged(self, node: torch.fx.Node) -> torch.Tensor | None:
        """Return the operand of a node whose output is certain to be of the same shape and dtype.

        Half of the nodes of most models need not run then.
        """
        operands = [self.env.get(each) for each in node.args if isinstance(each, torch.fx.Node)]
        first = operands[0] if operands else None
        if not isinstance(first, torch.Tensor) or not first.is_floating_point():
            return None
        if node.op == "call_module":
            module = self.fetch_attr(str(node.target))
            is_plain = isinstance(module, torch.nn.Module) and not (module._forward_hooks or module._forward_pre_hooks)
            return first if is_plain and len(operands) == 1 and _keeps_shape(module, first) else None
        if node.target in _SUMS and len(node.args) == len(operands) == 2 and not node.kwargs:
            other = operands[1]
            is_alike = isinstance(other, torch.Tensor) and (other.shape, other.dtype) == (first.shape, first.dtype)
            return first if is_alike else None
        return first if node.target in _POINTWISE_FUNCTIONS and len(operands) == 1 else None

    def fetch_args_kwargs_from_env(self, n: torch.fx.Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        args, kwargs = super().fetch_args_kwargs_from_env(n)
        return tuple(mutable(value) for value in args), {name: mutable(value) for name, value in kwargs.items()}

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if target in self._inputs:
            return tree_map(lambda value: as_fake(self._mode, value), self._inputs[target])
        return super().placeholder(target, args, kwargs)


_POINTWISE = frozenset(
    {
        *(torch.nn.ReLU, torch.nn.ReLU6, torch.nn.LeakyReLU, torch.nn.GELU, torch.nn.SiLU, torch.nn.ELU, torch.nn.Mish),
        *(torch.nn.Sigmoid, torch.nn.Tanh, torch.nn.Hardswish, torch.nn.Hardsigmoid, torch.nn.Softplus),
        *(torch.nn.Dropout, torch.nn.Identity),
    }
)
_POINTWISE_FUNCTIONS = frozenset(
    {
        *(torch.relu, torch.sigmoid, torch.tanh, torch.nn.functional.relu, torch.nn.functional.gelu),
        *(torch.nn.functional.silu, torch.nn.functional.relu6, torch.nn.functional.leaky_relu),
        *(torch.nn.functional.sigmoid, torch.nn.functional.tanh, torch.nn.functional.dropout),
    }
)
_SUMS = frozenset({operator.add, operator.iadd, operator.mul, torch.add, torch.mul})


def _keeps_shape(module: torch.nn.Module, operand: torch.Tensor) -> bool:
    if type(module) is torch.nn.BatchNorm2d:
        return operand.dim() == 4 and operand.shape[1] == module.num_features
    return type(module) in _POINTWISE


class _ShapesOnly(OnCpu):  # type: ignore[no-untyped-call]
    """Dispatch mode that shortens what would take long and has no part in a shape."""

    def __torch_dispatch__(
        self, func: Operator, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        if is_real(args):
            with no_dispatch():
                return func(*args, **on_cpu(kwargs or {}))
        if is_batch_norm(func):
            # Of the result, nothing but its shape is looked at.
            statistics = args[0].new_empty(args[0].shape[1] if args[5] else 0)
            return torch.empty_like(args[0]), statistics, statistics
        return func(*args, **on_cpu(kwargs or {}))
