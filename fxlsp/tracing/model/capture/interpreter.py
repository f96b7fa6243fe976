"""Execution of a graph node by node on fake inputs, recording inputs and outputs.

:class:`ValueInterpreter` is a ``torch.fx.Interpreter`` that does not stop at a node that fails. If it is known which
operands would fit, the node yields what it would yield for them, marked as assumed; else it and the nodes that depend
on it are unknown.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from enum import IntEnum
from typing import Any

import torch
import torch.fx

from ....report.graph import Output
from ...isolation.sandbox.accelerators import DevicesAreCpu
from ...isolation.torch_private import WITHOUT_DATA, FakeTensorMode, no_dispatch, tensors_in, tree_map
from ...isolation.torch_private.modules import batches_of_one
from .. import module_tree
from ..building.fake_tensors import as_fake
from ..operations.mismatches import fitted, mismatch_of, with_fitting
from ..operations.operation import Fit, Key, Mismatch, Operation
from .costs import OperatorCosts, Statistics
from .outputs import UNKNOWN, Unknown, holds_proxy, holds_unknown, is_known, output_of
from .refused_types import RefusedTypesError
from .tracer import ModulePathTracer


class Trust(IntEnum):
    """Degree to which the output of a node is what the model yields."""

    RUN = 0
    """The node ran, and so did all that it depends on."""
    ASSUMED = 1
    """An operation before it fails, and its result has this shape however it is repaired."""
    DOUBTFUL = 2
    """An operation before it fails, and the shape depends on how it is repaired."""


@dataclass
class NodeValue:
    """Inputs, output and FLOPs of one node when it ran."""

    output: Any
    inputs: tuple[Any, ...]
    flops: int | None
    error: BaseException | None = None
    mismatch: Mismatch | None = None
    """Why the operands do not fit, if that is why the node failed."""
    trust: Trust = Trust.RUN
    shown: Output | None = field(init=False)
    """Output as JSON at the time when the node had run: tensors may change their shape in place later."""
    shown_inputs: tuple[Output | None, ...] = ()
    follows: bool = False
    """Whether the node may fail only because a doubtful output before it was assumed."""
    alternative: Any = UNKNOWN
    """Output if the failing operation before it is repaired in another way; unknown if there is no other."""

    def __post_init__(self) -> None:
        self.shown = output_of(self.output)

    @property
    def is_assumed(self) -> bool:
        """Whether the output is known, but rests on that of an operation that fails."""
        return self.trust is not Trust.RUN and is_known(self.shown)


class ValueInterpreter(torch.fx.Interpreter):
    """Interpreter that runs a traced graph on fake inputs and records each node."""

    has_data = False
    """Whether tensors have data."""

    def __init__(self, root: torch.nn.Module, tracer: ModulePathTracer, mode: FakeTensorMode) -> None:
        with module_tree.methods_visible(root):
            super().__init__(root, garbage_collect_values=True, graph=tracer.graph)
        self.values: dict[torch.fx.Node, NodeValue] = {}
        self.needs_data = False
        """Whether an operation was met whose result depends on data."""
        self._origins = tracer.origins
        self._mode = mode
        self._inputs: dict[str, Any] = {}
        self._statistics: Statistics = {}

    def run_on(self, inputs: dict[str, Any]) -> None:
        """Run the graph on arguments of ``forward`` by the names of its placeholders.

        Missing placeholders have the parameter's default, or are unknown if there is none.
        """
        self._inputs = inputs
        with self.running():
            self.run(enable_io_processing=False)

    @contextmanager
    def running(self) -> Iterator[None]:
        """Run operations on fake tensors, on the CPU, inside this context."""
        with DevicesAreCpu(), self._mode, batches_of_one():
            yield

    def convert_input(self, value: Any) -> Any:
        """Return an input with its tensors made fake."""
        return tree_map(lambda item: as_fake(self._mode, item), value)

    def run_node(self, n: torch.fx.Node) -> Any:
        try:
            args, kwargs = self.fetch_args_kwargs_from_env(n)
        except RuntimeError:
            # An argument is a node of another graph, which the model stored in an earlier trace.
            self.values[n] = NodeValue(UNKNOWN, (), None)
            return UNKNOWN
        inputs = () if n.op == "placeholder" else (*args, *kwargs.values())
        shown = tuple(output_of(value) for value in inputs)
        if n.op not in ("placeholder", "output") and holds_unknown(inputs):
            self.values[n] = NodeValue(UNKNOWN, inputs, None, shown_inputs=shown)
            return UNKNOWN
        # FX does not record ``with torch.no_grad()``, but only there may parameters be changed in place.
        with torch.set_grad_enabled(self._origins[n].grad_enabled):
            output, flops, error = self.run_and_count(n, args, kwargs)
            known = NodeValue(output, inputs, flops, error, trust=self.trust_in(n), shown_inputs=shown)
            if error is not None:
                operation = Operation(n.op, n.target, args, kwargs, self._module_of(n))
                known = self.assumed(known, operation)
            if n.op != "output" and any(self._has_alternative(each) for each in n.all_input_nodes):
                known = self._compared(n, known)
            self._suspect_operands(n, known)
        self.values[n] = known
        return known.output

    def _module_of(self, node: torch.fx.Node) -> torch.nn.Module | None:
        module = self.fetch_attr(str(node.target)) if node.op == "call_module" else None
        return module if isinstance(module, torch.nn.Module) else None

    def trust_in(self, node: torch.fx.Node) -> Trust:
        """Return the trust in the values that a node takes."""
        known = (self.values.get(each) for each in node.all_input_nodes)
        return max((each.trust for each in known if each is not None), default=Trust.RUN)

    def assumed(self, failed: NodeValue, operation: Operation) -> NodeValue:
        """Return the value of a failed operation, with the output that it would have if its operands fitted."""
        mismatch = mismatch_of(operation)
        follows = failed.trust is Trust.DOUBTFUL
        failed = replace(failed, mismatch=mismatch, follows=follows)
        if mismatch is None or not mismatch.fitting:
            return failed
        output = self._repaired(operation, mismatch.fitting)
        if isinstance(output, Unknown):
            return failed
        own = Trust.ASSUMED if mismatch.is_certain else Trust.DOUBTFUL
        alternative = self._repaired(operation, mismatch.otherwise)
        return replace(failed, output=output, trust=max(own, failed.trust), alternative=alternative)

    def _repaired(self, operation: Operation, fitting: Mapping[Key, Fit | int]) -> Any:
        """Return the output of an operation with other operands.

        Unknown if there are none, or if it fails for another reason as well.
        """
        if not fitting:
            return UNKNOWN
        try:
            return self._run(operation, *with_fitting(operation, fitting))
        except Exception:
            return UNKNOWN

    def _run(self, operation: Operation, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        # Not the method of this class, which for placeholders reads the inputs.
        return getattr(torch.fx.Interpreter, operation.op)(self, operation.target, args, kwargs)

    # Two repairs of one failure: what fails with both is another failure.

    def _suspect_operands(self, node: torch.fx.Node, known: NodeValue) -> None:
        """Set as alternative of the operands of a failed node what would fit, since they may be what is wrong.

        A residual connection uses an operand again, beside what its layers yield.
        """
        mismatch = known.mismatch
        if known.error is None or mismatch is None or not mismatch.is_certain:
            return
        for key, fit in mismatch.fitting.items():
            operand = node.args[key[0]] if isinstance(key[0], int) and len(key) == 1 else None
            value = self.values.get(operand) if isinstance(operand, torch.fx.Node) else None
            if value is not None and isinstance(fit, Fit) and isinstance(value.alternative, Unknown):
                value.alternative = fitted(value.output, fit)

    def _has_alternative(self, node: torch.fx.Node) -> bool:
        known = self.values.get(node)
        return known is not None and not isinstance(known.alternative, Unknown)

    def _other_value(self, node: torch.fx.Node) -> Any:
        known = self.values.get(node)
        if known is None:
            return UNKNOWN
        return known.alternative if self._has_alternative(node) else known.output

    def _compared(self, node: torch.fx.Node, known: NodeValue) -> NodeValue:
        """Return the value of a node, given what it is if the failing operation before it is repaired otherwise.

        If it runs with one of the repairs only, that is the likely one. If it fails with both, that is a failure of its
        own.
        """
        args = tuple(mutable(value) for value in torch.fx.node.map_arg(node.args, self._other_value))
        kwargs = {name: mutable(torch.fx.node.map_arg(value, self._other_value)) for name, value in node.kwargs.items()}
        if holds_unknown((*args, *kwargs.values())):
            return known
        operation = Operation(node.op, node.target, args, kwargs, self._module_of(node))
        try:
            alternative = self._run(operation, args, kwargs)
        except Exception:
            if known.error is None:
                return replace(known, trust=min(known.trust, Trust.ASSUMED))
            mismatch = mismatch_of(operation)
            repaired = UNKNOWN if mismatch is None else self._repaired(operation, mismatch.fitting)
            return replace(known, follows=False, alternative=repaired)
        if known.error is None:
            return replace(known, alternative=alternative)
        if self.trust_in(node) is Trust.RUN:
            # The operand is what the model makes, whatever was wrong with it elsewhere.
            return known
        inputs = (*args, *kwargs.values())
        shown = tuple(output_of(value) for value in inputs)
        return NodeValue(alternative, inputs, None, trust=Trust.ASSUMED, shown_inputs=shown)

    def fetch_args_kwargs_from_env(self, n: torch.fx.Node) -> tuple[tuple[Any, ...], dict[str, Any]]:
        # The code that FX generates for a graph creates new lists, so functions may change their arguments.
        args, kwargs = super().fetch_args_kwargs_from_env(n)
        return tuple(mutable(value) for value in args), {name: mutable(value) for name, value in kwargs.items()}

    def run_and_count(
        self, node: torch.fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, int | None, BaseException | None]:
        """Return output, FLOPs and error of a node."""
        costs = OperatorCosts(self.has_data, self._statistics)
        try:
            with costs:
                return super().run_node(node), costs.flops, None
        except WITHOUT_DATA:
            self.needs_data = True
            return UNKNOWN, None, None
        except BaseException as raised:
            if isinstance(raised, RefusedTypesError) and self._origins[node].autocast:
                # FX does not record ``with torch.autocast(...)``, under which the dtypes are allowed.
                return UNKNOWN, None, None
            output, error = self.repeat_on_real_tensors(node.op, node.target, args, kwargs, raised)
            return output, None, error

    def call_module(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        module = self.fetch_attr(target)
        if any(holds_proxy(value) for part in module_tree.modules(module) for value in vars(part).values()):
            # The model stored a traced value in it: what it would make with that is no value.
            return UNKNOWN
        return super().call_module(target, args, kwargs)

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if target in self._inputs:
            return self.convert_input(self._inputs[target])
        return args[0] if args else UNKNOWN

    def repeat_on_real_tensors(
        self, op: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any], raised: BaseException
    ) -> tuple[Any, BaseException | None]:
        """Repeat a failing operation on real tensors, and return its value and error.

        The error has torch's message for real tensors. If the operation does not fail on them, its value is returned as
        fake tensors; if they would be too large, the value is unknown and the error is ``raised``.
        """
        module = self.fetch_attr(str(target)) if op == "call_module" else None
        state = (
            {}
            if module is None
            else {**dict(module_tree.named_parameters(module)), **dict(module_tree.named_buffers(module))}
        )
        if not can_be_real((args, kwargs, state)):
            return UNKNOWN, raised
        with no_dispatch():
            try:
                real_args, real_kwargs, real_state = materialize((args, kwargs, state))
                if module is None:
                    operation = getattr(super(), op)
                    output = operation(target, real_args, real_kwargs)
                else:
                    output = torch.func.functional_call(module, real_state, real_args, real_kwargs)
            except BaseException as error:
                return UNKNOWN, error
        return tree_map(lambda value: as_fake(self._mode, value), output), None


def mutable(value: Any) -> Any:
    """Return torch.fx's immutable lists and dicts as plain ones, recursively."""
    if isinstance(value, list) and type(value).__name__ == "immutable_list":
        return [mutable(item) for item in value]
    if isinstance(value, dict) and type(value).__name__ == "immutable_dict":
        return {key: mutable(item) for key, item in value.items()}
    return value


REAL_ELEMENTS = 2**26
"""Largest number of elements with which a failing operation is repeated on real tensors (256 MB of float32)."""


def can_be_real(tree: object) -> bool:
    """Return whether nested tensors are small enough to be materialized."""
    return sum(_extent(tensor) for tensor in tensors_in(tree)) <= REAL_ELEMENTS


def materialize(tree: Any) -> Any:
    """Return nested containers with a real tensor in place of each tensor."""
    return tree_map(_real, tree)


def _real(value: Any) -> Any:
    """Return a real tensor with the shape, strides and autograd state of ``value``.

    Views and changes in place fail depending on these. The elements are ones, which are valid numbers, divisors and
    small indices.
    """
    if not isinstance(value, torch.Tensor):
        return value
    storage = torch.ones(_extent(value), dtype=value.dtype, device="cpu")
    if value.requires_grad and not value.is_leaf:
        storage = storage.requires_grad_().clone()
    real = storage.as_strided(value.shape, value.stride())
    return real.detach().requires_grad_() if value.requires_grad and value.is_leaf else real


def _extent(tensor: torch.Tensor) -> int:
    """Return the number of elements from the first to the last of a tensor in memory."""
    if tensor.numel() == 0:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))
