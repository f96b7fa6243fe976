"""Tables of rules by layers and functions, and the mismatch of an operation."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from torch import nn

from ...isolation.torch_private.layers import CONVOLUTIONS, POOLS
from .elementwise import (
    ELEMENTWISE,
    elementwise,
    joined,
    loss_layer,
    loss_of_classes,
    loss_of_equal_shapes,
    loss_of_pairs,
)
from .layers import LAYERS, LayerRule, embedding, layer_norm, of_weights_dtype
from .operation import Fit, Key, Mismatch, Operation
from .products import added_product, attention, einsum, linear, product
from .reshaping import (
    dimension,
    expand,
    index_dtype,
    item,
    of_numbers,
    outside,
    permute,
    split,
    unflatten,
    view,
)
from .sequences import SEQUENCE_LAYERS
from .windows import convolution, convolution_layer, pooling, pooling_layer

Rule = Callable[[Operation], Mismatch | None]


def _along(operation: Operation, layer: Any, label: str) -> Mismatch | None:
    """Return the mismatch of a layer that works along a dimension."""
    given = operation.tensor(0, "input")
    dims = [getattr(layer, name, None) for name in ("dim", "start_dim", "end_dim")]
    return None if given is None else outside(label, given, dims, has_one_more=False, fitting={})


def _functional_layer_norm(operation: Operation) -> Mismatch | None:
    given, wanted = operation.tensor(0, "input"), operation.value(1, "normalized_shape")
    if given is None or not isinstance(wanted, (list, tuple)) or not all(type(size) is int for size in wanted):
        return None
    return layer_norm(operation.label, operation.key(0, "input"), given, tuple(wanted))


def _functional_embedding(operation: Operation) -> Mismatch | None:
    given, weight = operation.tensor(0, "input"), operation.tensor(1, "weight")
    if given is None or weight is None or not weight.dim():
        return None
    has_data = type(given) is torch.Tensor
    return embedding(operation.label, operation.key(0, "input"), given, int(weight.shape[0]), has_data)


def _binary_loss(operation: Operation) -> Mismatch | None:
    return loss_of_equal_shapes(operation, None, operation.label)


_LAYERS: tuple[tuple[type[nn.Module] | tuple[type[nn.Module], ...], LayerRule], ...] = (
    *LAYERS,
    *SEQUENCE_LAYERS,
    (CONVOLUTIONS, convolution_layer),
    (POOLS, pooling_layer),
    ((nn.CrossEntropyLoss, nn.NLLLoss), loss_layer),
    ((nn.MSELoss, nn.L1Loss, nn.SmoothL1Loss, nn.HuberLoss), loss_of_pairs),
    ((nn.BCELoss, nn.BCEWithLogitsLoss), loss_of_equal_shapes),
    ((nn.Softmax, nn.LogSoftmax, nn.Softmin, nn.GLU, nn.Flatten), _along),
)

_CONTAINERS = (nn.ModuleList, nn.ModuleDict, nn.ParameterList, nn.ParameterDict)

_FUNCTIONS: Mapping[str, tuple[Rule, ...]] = {
    **dict.fromkeys(ELEMENTWISE, (elementwise,)),
    **dict.fromkeys(("max", "min"), (dimension, elementwise)),
    **dict.fromkeys(("matmul", "mm", "bmm", "mv", "dot"), (product,)),
    **dict.fromkeys(("addmm", "baddbmm", "addbmm", "addmv"), (added_product,)),
    **{f"{kind}_pool{count}d": (pooling,) for kind in ("max", "avg") for count in (1, 2, 3)},
    **{f"conv{kind}{count}d": (convolution,) for kind in ("", "_transpose") for count in (1, 2, 3)},
    **dict.fromkeys(("softmax", "log_softmax", "mean", "std", "var"), (dimension, of_numbers)),
    **dict.fromkeys(("gather", "index_select", "scatter", "scatter_add", "index_add"), (dimension, index_dtype)),
    **dict.fromkeys(("expand", "broadcast_to"), (expand,)),
    **dict.fromkeys(("cat", "concat", "concatenate", "stack"), (joined,)),
    **dict.fromkeys(("view", "reshape"), (view,)),
    **dict.fromkeys(("cross_entropy", "nll_loss"), (loss_of_classes,)),
    **dict.fromkeys(("binary_cross_entropy", "binary_cross_entropy_with_logits"), (_binary_loss,)),
    "linear": (linear,),
    "einsum": (einsum,),
    "scaled_dot_product_attention": (attention,),
    "layer_norm": (_functional_layer_norm,),
    "embedding": (_functional_embedding,),
    "permute": (permute,),
    "split": (dimension, split),
    "unflatten": (dimension, unflatten),
    "getitem": (item,),
}


def mismatch_of(operation: Operation) -> Mismatch | None:
    """Return why an operation that failed does; None if no rule applies."""
    try:
        method = operation.uncalled_method()
        if method is not None:
            return Mismatch(f"`{method}` is a method of a tensor and is not called: write `{method}(...)`")
        if operation.module is not None:
            return _of_layer(operation, operation.module)
        rules = _FUNCTIONS.get(operation.name, (dimension,))
        return next((found for found in (rule(operation) for rule in rules) if found is not None), None)
    except Exception:
        # Attributes of a layer, and arguments of a wrong type, may be anything of the user's.
        return None


def _of_layer(operation: Operation, layer: nn.Module) -> Mismatch | None:
    if isinstance(layer, _CONTAINERS) and type(layer).forward is nn.Module.forward:
        kind = type(layer).__name__
        return Mismatch(f"{operation.label} is a {kind}, which cannot be called: call what it holds")
    rule = next((rule for kinds, rule in _LAYERS if isinstance(layer, kinds)), None)
    found = None if rule is None else rule(operation, layer, operation.label)
    typed = of_weights_dtype(operation, layer, operation.label)
    if found is not None and typed is not None and typed.is_certain:
        # Sizes of integers are hardly what is wrong with them.
        return Mismatch(typed.headline)
    return found or typed


def with_fitting(operation: Operation, fitting: Mapping[Key, Fit | int]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    """Return the arguments of an operation with replacements in their places."""
    args, kwargs = list(operation.args), dict(operation.kwargs)
    for key, fit in fitting.items():
        held: Any = args if isinstance(key[0], int) else kwargs
        if len(key) > 1:
            held[key[0]] = held = list(held[key[0]])
        held[key[-1]] = fitted(held[key[-1]], fit)
    return tuple(args), kwargs


def fitted(operand: Any, fit: Fit | int) -> Any:
    """Return what fits in the place of an operand."""
    if isinstance(fit, int):
        return fit
    # Ones are valid numbers, divisors and small indices.
    return torch.ones(fit.shape, dtype=fit.dtype or operand.dtype, device="cpu")
