"""Watches the operators below a node: what they cost, and what fake tensors alone would let pass or take long for."""

from __future__ import annotations

from typing import Any

import torch

from ..sandbox.accelerators import on_cpu
from ..torch_private import (
    FakeTensor,
    Operator,
    TorchDispatchMode,
    decompose,
    is_batch_norm,
    no_dispatch,
    tensors_in,
)
from .operator_flops import flops_of, has_formula, is_costed


class MixedTypesError(RuntimeError):
    """Matrices of several types meet in a product, which fake tensors let pass."""


class OperatorCosts(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Adds up what the operators below it cost; keeps every tensor on the CPU."""

    def __init__(self, with_data: bool = False) -> None:
        """``with_data`` asks for results with data, where shapes alone would come faster."""
        super().__init__()  # type: ignore[no-untyped-call]
        self._with_data = with_data
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
        if is_batch_norm(func) and not self._with_data:
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
