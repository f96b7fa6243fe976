"""The values pass: the graph run node by node on fake inputs, to see what goes into and comes out of each.

:class:`ValueInterpreter` is a ``torch.fx.Interpreter`` that does not stop at a node that fails: what depends on it is
unknown, and the rest runs.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import torch
import torch.fx

from .fakes import as_fake, on_cpu
from .flops import flops_of, has_formula, is_costed
from .outputs import UNKNOWN, holds_unknown
from .torch_private import (
    WITHOUT_DATA,
    FakeTensor,
    FakeTensorMode,
    Operator,
    TorchDispatchMode,
    decompose,
    is_batch_norm,
    no_dispatch,
    tensors_in,
    tree_map,
)
from .tracer import ModulePathTracer

REAL_ELEMENTS = 2**26
"""A failing operation is repeated on real tensors if they hold no more elements than this (256 MB of float32)."""


@dataclass
class NodeValue:
    """What one node did when it ran."""

    output: Any
    inputs: tuple[Any, ...]
    flops: int | None
    error: BaseException | None = None


class MixedTypesError(RuntimeError):
    """Matrices of several types meet in a product, which fake tensors let pass."""


class OperatorCosts(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Adds up what the operators below it cost; keeps every tensor on the CPU."""

    def __init__(self) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.flops: int | None = 0

    def __torch_dispatch__(
        self, func: Operator, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = on_cpu(kwargs or {})
        if is_real(args):
            with no_dispatch():
                return func(*args, **kwargs)
        if has_formula(func):
            _require_one_dtype(args)
        if is_batch_norm(func):
            return batch_norm_result(args[0], training=args[5])
        if not is_costed(func):
            with self:
                result = decompose(func, args, kwargs)
            if result is not NotImplemented:
                return result
        result = func(*args, **kwargs)
        cost = flops_of(func, args, kwargs, result)
        self.flops = None if cost is None or self.flops is None else self.flops + cost
        return result


def _require_one_dtype(args: tuple[Any, ...]) -> None:
    """Raise, as torch does for real tensors, unless all matrices have one type; those of one byte may be mixed."""
    # No formula's operator has more than three matrices before its masks and scales.
    matrices = [tensor for tensor in args[:3] if isinstance(tensor, torch.Tensor) and tensor.dim() > 1]
    dtypes = {matrix.dtype for matrix in matrices if matrix.dtype.itemsize > 1}
    if len(dtypes) > 1:
        raise MixedTypesError("expected operands of one dtype, but got " + " and ".join(sorted(map(str, dtypes))))


class ValueInterpreter(torch.fx.Interpreter):
    """Runs a traced graph on fake inputs and records for each node what came in, what went out and what it cost."""

    def __init__(self, root: torch.nn.Module, tracer: ModulePathTracer, mode: FakeTensorMode) -> None:
        super().__init__(root, garbage_collect_values=True, graph=tracer.graph)
        self.values: dict[torch.fx.Node, NodeValue] = {}
        self._origins = tracer.origins
        self._mode = mode
        self._inputs: dict[str, Any] = {}

    def run_on(self, inputs: dict[str, Any]) -> None:
        """Run the graph; ``inputs`` are the arguments of ``forward`` by the names of its placeholders.

        Placeholders that are missing take the parameter's default, else they are unknown.
        """
        self._inputs = inputs
        with self._mode, _batches_of_one():
            self.run(enable_io_processing=False)

    def run_node(self, n: torch.fx.Node) -> Any:
        args, kwargs = self.fetch_args_kwargs_from_env(n)
        inputs = (*args, *kwargs.values())
        if n.op not in ("placeholder", "output") and holds_unknown(inputs):
            self.values[n] = NodeValue(UNKNOWN, inputs, None)
            return UNKNOWN
        # FX does not record ``with torch.no_grad()``, but parameters may be changed in place only there.
        with torch.set_grad_enabled(self._origins[n].grad_enabled):
            output, flops, error = self._run(n, args, kwargs)
        self.values[n] = NodeValue(output, inputs if n.op != "placeholder" else (), flops, error)
        return output

    def _run(
        self, node: torch.fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[Any, int | None, BaseException | None]:
        """What the node produced, what it cost, and why it failed."""
        costs = OperatorCosts()
        try:
            with costs:
                return super().run_node(node), costs.flops, None
        except WITHOUT_DATA:
            return UNKNOWN, None, None
        except BaseException as raised:
            if isinstance(raised, MixedTypesError) and self._origins[node].autocast:
                # FX does not record ``with torch.autocast(...)``, under which they do fit.
                return UNKNOWN, None, None
            output, error = self._repeat_really(node, args, kwargs, raised)
            return output, None, error

    def placeholder(self, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if target in self._inputs:
            return tree_map(lambda value: as_fake(self._mode, value), self._inputs[target])
        return args[0] if args else UNKNOWN

    def _repeat_really(
        self, node: torch.fx.Node, args: tuple[Any, ...], kwargs: dict[str, Any], raised: BaseException
    ) -> tuple[Any, BaseException | None]:
        """The failing operation alone on real tensors, for torch's own words; the value if it does not fail there."""
        module = self.fetch_attr(str(node.target)) if node.op == "call_module" else None
        state = {} if module is None else dict(_state_of(module))
        if sum(_extent(tensor) for tensor in tensors_in((args, kwargs, state))) > REAL_ELEMENTS:
            return UNKNOWN, raised
        with no_dispatch():
            try:
                real_args, real_kwargs, real_state = tree_map(_real, (args, kwargs, state))
                if module is None:
                    operation = getattr(super(), node.op)
                    output = operation(node.target, real_args, real_kwargs)
                else:
                    output = torch.func.functional_call(module, real_state, real_args, real_kwargs)
            except BaseException as error:
                return UNKNOWN, error
        return tree_map(lambda value: as_fake(self._mode, value), output), None


def is_real(args: tuple[Any, ...]) -> bool:
    """Whether an operator works on small real tensors alone, such as counters: making them fake costs more."""
    tensors = tensors_in(args)
    return bool(tensors) and all(not isinstance(tensor, FakeTensor) and tensor.numel() <= 1 for tensor in tensors)


def batch_norm_result(operand: torch.Tensor, training: bool) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """What batch normalisation returns, by shape: fake tensors would take a dozen operators for each layer to say so.

    ``torch.batch_norm`` has checked its operands before it gets here.
    """
    statistics = operand.new_empty(operand.shape[1] if training else 0)
    return torch.empty_like(operand), statistics, statistics.clone()


def _state_of(module: torch.nn.Module) -> Iterator[tuple[str, torch.Tensor]]:
    yield from module.named_parameters()
    yield from module.named_buffers()


def _real(value: Any) -> Any:
    """A real tensor like ``value``, in memory and for autograd too: a view or an in-place change fails for these alone.

    It holds ones, which are valid numbers, divisors and small indices alike.
    """
    if not isinstance(value, torch.Tensor):
        return value
    storage = torch.ones(_extent(value), dtype=value.dtype, device="cpu")
    if value.requires_grad and not value.is_leaf:
        storage = storage.requires_grad_().clone()
    real = storage.as_strided(value.shape, value.stride())
    return real.detach().requires_grad_() if value.requires_grad and value.is_leaf else real


def _extent(tensor: torch.Tensor) -> int:
    """How many elements lie between the first and the last of a tensor in memory, both included."""
    if tensor.numel() == 0:
        return 0
    return 1 + sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride(), strict=True))


@contextmanager
def _batches_of_one() -> Iterator[None]:
    """Let a batch of one pass normalisation layers in train mode: example inputs are small, training ones are not."""
    functional = torch.nn.functional
    checks = {name: getattr(functional, name) for name in ("_verify_batch_size", "_verify_spatial_size")}
    for name in checks:
        setattr(functional, name, lambda size: None)
    try:
        yield
    finally:
        for name, check in checks.items():
            setattr(functional, name, check)
