"""The parts of torch that are not public and that fxlsp cannot do without: all of them, and only here.

Checked on torch 2.6, 2.13 and 2.15.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.fx
from torch._subclasses.fake_tensor import (
    DataDependentOutputException,
    DynamicOutputShapeException,
    FakeTensor,
    FakeTensorMode,
    UnsupportedOperatorException,
)
from torch.utils._mode_utils import no_dispatch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_flatten, tree_map
from torch.utils.flop_counter import flop_registry

__all__ = [
    "WITHOUT_DATA",
    "FakeTensor",
    "FakeTensorMode",
    "TorchDispatchMode",
    "decompose",
    "flop_formula",
    "grows_not",
    "is_batch_norm",
    "is_view",
    "never_start_accelerators",
    "no_dispatch",
    "packet_of",
    "pretty_target",
    "tensors_in",
    "tree_map",
]

WITHOUT_DATA = (DataDependentOutputException, DynamicOutputShapeException, UnsupportedOperatorException)
"""Raised by fake tensors for what only data could tell: not the user's fault."""

Operator = torch._ops.OpOverload


def flop_formula(operator: Operator) -> Callable[..., Any] | None:
    """torch.utils.flop_counter's formula: takes the operator's arguments, and its result as ``out_val``."""
    formula: Callable[..., Any] | None = flop_registry.get(packet_of(operator))
    return formula


def never_start_accelerators() -> None:
    """Let tensors be asked for on ``cuda`` without CUDA being started: a dispatch mode puts them on the CPU.

    For the life of this process, which has been forked and so could not start CUDA anyway.
    """
    for device in ("cuda", "xpu", "mtia"):
        module = getattr(torch, device, None)
        if hasattr(module, "_lazy_init"):
            module._lazy_init = lambda: None  # type: ignore[union-attr]
    # Else ``torch.tensor(data, device=...)`` moves its tensor below every dispatch mode.
    torch._C._set_only_lift_cpu_tensors(True)


def packet_of(operator: Operator) -> Any:
    """All overloads of an operator: ``aten.add`` for ``aten.add.Tensor``."""
    return operator._overloadpacket


def is_view(operator: Operator) -> bool:
    """Whether the operator returns a view of an argument."""
    return bool(getattr(operator, "is_view", False))


def grows_not(operator: Operator) -> bool:
    """Whether the result is a view of an operand, an operand changed in place, or one broadcast with others."""
    if is_view(operator) or torch.Tag.pointwise in operator.tags:
        return True
    return operator._schema.is_mutable and packet_of(operator).__name__ not in ("resize_", "resize_as_", "set_")


def is_batch_norm(operator: Operator) -> bool:
    """Whether this is the operator that ``torch.batch_norm`` ends in on the CPU."""
    return operator is torch.ops.aten.native_batch_norm.default


def decompose(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run the operator as simpler ones; NotImplemented if it has no decomposition."""
    return operator.decompose(*args, **kwargs)


def pretty_target(node: torch.fx.Node) -> str:
    """torch.fx's qualified name of a called function: ``torch.flatten``, ``operator.add``."""
    return node._pretty_print_target(node.target)


def tensors_in(tree: object) -> list[torch.Tensor]:
    """The tensors in nested lists, tuples and dicts."""
    return [leaf for leaf in tree_flatten(tree)[0] if isinstance(leaf, torch.Tensor)]
