"""FLOPs of a node's operators, by the formulas of torch.utils.flop_counter.

The same dispatch mode raises for dtypes that real tensors refuse and for dimensions that do not exist, which fake ones
accept, and shortens batch normalisation, for which they take long.
"""

from __future__ import annotations

from functools import cache
from typing import Any, TypeAlias

import torch

from ...isolation.sandbox.accelerators import on_cpu
from ...isolation.torch_private import (
    FakeTensor,
    Operator,
    TorchDispatchMode,
    decompose,
    fake_device,
    flop_formula,
    is_batch_norm,
    is_lstm_layer,
    is_view,
    no_dispatch,
    overload_packet,
    tensors_in,
)
from .refused_types import may_refuse_types, require_known_types, require_one_dtype

Statistics: TypeAlias = "dict[tuple[int, torch.dtype], tuple[torch.Tensor, torch.Tensor]]"
"""Mean and deviation of batch normalisation in the graph of a backward pass, by size and dtype."""


class OperatorCosts(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Dispatch mode that sums the FLOPs of operators, with every tensor on the CPU."""

    def __init__(self, with_data: bool = False, statistics: Statistics | None = None) -> None:
        """
        Args:
            with_data: whether results need data; shapes alone are faster.
            statistics: statistics of batch normalisation that other operations of the same fake mode had.
        """
        super().__init__()  # type: ignore[no-untyped-call]
        self._with_data = with_data
        self._statistics = {} if statistics is None else statistics
        self.flops: int | None = 0

    def __torch_dispatch__(
        self, func: Operator, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        # ``prim`` operators query properties of a tensor, such as device and layout.
        if func.namespace == "prim":
            device = fake_device(func, args[0] if args else None)
            return func(*args, **(kwargs or {})) if device is None else device
        kwargs = on_cpu(kwargs or {})
        if is_real(args):
            with no_dispatch():
                return func(*args, **kwargs)
        if has_formula(func):
            require_one_dtype(args)
        name = overload_packet(func).__name__
        require_known_types(name, args, kwargs)
        if name in _UNCHECKED_DIMENSION:
            _require_dimension(args[0], args[1] if len(args) > 1 else kwargs.get("dim", -1))
        if is_batch_norm(func) and not self._with_data:
            return self._batch_norm_result(args[0], training=args[5])
        if not is_costed(func):
            with self:
                result = decompose(func, args, kwargs)
            if result is not NotImplemented:
                return result
        result = func(*args, **kwargs)
        cost = flops_of(func, args, kwargs, result)
        self.flops = None if cost is None or self.flops is None else self.flops + cost
        return result

    def _batch_norm_result(self, operand: torch.Tensor, training: bool) -> tuple[torch.Tensor, ...]:
        """Return results of batch normalisation with the right shapes.

        Fake tensors would take a dozen operators for each layer to compute them. ``torch.batch_norm`` has checked the
        operands before, and hides the statistics, which only a backward pass takes.
        """
        size = operand.shape[1] if training else 0
        key = (size, operand.dtype)
        if key not in self._statistics:
            self._statistics[key] = (operand.new_empty(size), operand.new_empty(size))
        return (torch.empty_like(operand), *self._statistics[key])


_UNCHECKED_DIMENSION = frozenset({"softmax", "_softmax", "_safe_softmax", "sort"})
"""Operators that accept any number as their dimension if the tensor is fake."""


def may_be_accepted_by_fakes_alone(function: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> bool:
    """Return whether data may refuse what a function of torch's took as fake tensors: see :class:`OperatorCosts`."""
    if function in _UNCHECKED_DIMENSION and args and isinstance(args[0], torch.Tensor):
        dim = args[1] if len(args) > 1 else kwargs.get("dim")
        rank = max(args[0].dim(), 1)
        if isinstance(dim, int) and not -rank <= dim < rank:
            return True
    return may_refuse_types(function, args)


def _require_dimension(operand: torch.Tensor, dim: int) -> None:
    """Raise unless ``dim`` is a dimension of the operand, as torch does for real tensors.

    Raises:
        IndexError: it is none.
    """
    rank = max(operand.dim(), 1)
    if not -rank <= dim < rank:
        raise IndexError(f"Dimension out of range (expected to be in range of [{-rank}, {rank - 1}], but got {dim})")


def is_real(args: tuple[Any, ...]) -> bool:
    """Return whether an operator works only on small real tensors, such as counters.

    Making these fake would take longer.
    """
    if args and isinstance(args[0], FakeTensor):
        return False
    tensors = tensors_in(args)
    return bool(tensors) and all(not isinstance(tensor, FakeTensor) and tensor.numel() <= 1 for tensor in tensors)


# Reductions, and compositions of reductions and element-wise steps: torch's formulas leave them out as cheap.
_REDUCTIONS = """
sum mean prod amax amin max min argmax argmin all any std var std_mean var_mean norm linalg_vector_norm median nansum
nanmean logsumexp cumsum cumprod cummax cummin logcumsumexp count_nonzero softmax _softmax log_softmax _log_softmax
_safe_softmax native_batch_norm _native_batch_norm_legit _native_batch_norm_legit_no_training _batch_norm_with_update
native_layer_norm native_group_norm native_dropout _fused_rms_norm rms_norm cudnn_batch_norm max_pool2d_with_indices
max_pool3d_with_indices avg_pool1d avg_pool2d avg_pool3d _adaptive_avg_pool2d _adaptive_avg_pool3d adaptive_max_pool2d
adaptive_max_pool3d adaptive_avg_pool1d nll_loss_forward nll_loss2d_forward mse_loss smooth_l1_loss huber_loss
binary_cross_entropy prelu _prelu_kernel
"""
# Element-wise operators without the pointwise tag, and compositions with reductions.
_ELEMENTWISE = """
hardswish glu rrelu_with_noise log_sigmoid_forward floor_divide binary_cross_entropy_with_logits complex linalg_cross
trace exponential _weight_norm_interface _embedding_bag _embedding_bag_forward_only index_add scatter_add scatter_reduce
col2im dot fake_quantize_per_tensor_affine_cachemask fake_quantize_per_channel_affine_cachemask
"""
# Operators without arithmetic.
_COPIES_AND_CREATION = """
as_strided_ squeeze_ unsqueeze_ transpose_ t_
cat stack clone copy copy_ _to_copy contiguous repeat tile flip roll rot90 pad constant_pad_nd reflection_pad1d
reflection_pad2d reflection_pad3d replication_pad1d replication_pad2d replication_pad3d pixel_shuffle pixel_unshuffle
channel_shuffle native_channel_shuffle gather scatter scatter_ index select index_select index_put index_put_ take
masked_fill masked_fill_ embedding where tril triu unfold im2col _unsafe_view _reshape_copy upsample_nearest1d
upsample_nearest2d upsample_nearest3d empty empty_like empty_strided new_empty new_empty_strided zeros zeros_like
new_zeros ones ones_like new_ones full full_like new_full arange linspace eye scalar_tensor fill fill_ zero_ rand
rand_like randn randn_like randint randint_like randperm bernoulli bernoulli_ uniform uniform_ normal normal_ one_hot
resize_ lift_fresh lift_fresh_copy lift detach _local_scalar_dense sym_size sym_numel sym_stride item
split_with_sizes_copy unbind_copy unsafe_split unsafe_split_with_sizes masked_scatter index_copy index_fill diag_embed
block_diag triu_indices tril_indices
"""
_COUNTED_AS_FREE = frozenset(f"{_REDUCTIONS} {_ELEMENTWISE} {_COPIES_AND_CREATION}".split())


def flops_of(operator: Operator, args: tuple[object, ...], kwargs: dict[str, object], output: object) -> int | None:
    """Return the FLOPs of an operator call; None if there is no formula for it.

    Element-wise operators, reductions, views and copies have none and count as 0, as in torch.utils.flop_counter.
    """
    formula = flop_formula(operator)
    if formula is not None:
        return int(formula(*args, **kwargs, out_val=output))
    if is_lstm_layer(operator):
        return _flops_of_lstm_layer(*args[:3])
    return 0 if _is_free(operator) else None


def _flops_of_lstm_layer(steps: Any, input_weight: Any, state_weight: Any) -> int:
    """Return the FLOPs of an LSTM's layer in one direction, which torch has no formula for.

    They are those of the matrix products of which it consists where it is no operator of its own: at each step, the
    input with the weights of the four gates, and the state with theirs.

    Args:
        steps: input of the shape (length, batch, features).
        input_weight: weights of the shape (4 * hidden, features).
        state_weight: weights of the shape (4 * hidden, hidden).
    """
    length, batch = steps.shape[:2]
    return int(2 * length * batch * (input_weight.numel() + state_weight.numel()))


def has_formula(operator: Operator) -> bool:
    """Return whether torch has a FLOP formula for an operator.

    These operators do most of a model's arithmetic: matrix products, convolutions, attention.
    """
    return flop_formula(operator) is not None


def is_costed(operator: Operator) -> bool:
    """Return whether :func:`flops_of` knows the FLOPs of an operator."""
    return has_formula(operator) or is_lstm_layer(operator) or _is_free(operator)


@cache
def _is_free(operator: Operator) -> bool:
    if torch.Tag.pointwise in operator.tags or is_view(operator):
        return True
    name: str = overload_packet(operator).__name__
    return name in _COUNTED_AS_FREE or name.removesuffix("_") in _COUNTED_AS_FREE
