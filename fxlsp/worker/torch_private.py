"""The parts of torch that are not public and that fxlsp cannot do without: all of them, and only here.

Checked on torch 2.6, 2.13 and 2.15.
"""

from __future__ import annotations

import os
import sys
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
    "CHECKPOINT_PARTS",
    "WITHOUT_DATA",
    "FakeTensor",
    "FakeTensorMode",
    "TorchDispatchMode",
    "compile_in_process",
    "decompose",
    "disable_accelerators",
    "flop_formula",
    "is_batch_norm",
    "is_view",
    "mutated_arguments",
    "never_grows",
    "no_dispatch",
    "overload_packet",
    "pretty_target",
    "restore_used_names",
    "storage_key",
    "tensors_in",
    "tree_map",
    "used_names",
]

WITHOUT_DATA = (DataDependentOutputException, DynamicOutputShapeException, UnsupportedOperatorException)
"""Raised by fake tensors for what only data could tell: not the user's fault."""

CHECKPOINT_PARTS = ("_checkpoint_without_reentrant_generator", "_checkpoint_without_reentrant_generator_impl")
"""What ``torch.utils.checkpoint.checkpoint`` calls, in older and in newer versions."""

Operator = torch._ops.OpOverload


def flop_formula(operator: Operator) -> Callable[..., Any] | None:
    """torch.utils.flop_counter's formula: takes the operator's arguments, and its result as ``out_val``."""
    formula: Callable[..., Any] | None = flop_registry.get(overload_packet(operator))
    return formula


def disable_accelerators() -> None:
    """Let tensors be asked for on ``cuda`` without CUDA being started: a dispatch mode puts them on the CPU.

    For the life of this process and of those forked from it, which could not start CUDA anyway. There is no
    accelerator, as torch says where none is; what would choose one or wait for it does nothing. Fake tensors, too, ask
    for one again and again.
    """
    for device in ("cuda", "xpu", "mtia"):
        module = getattr(torch, device, None)
        for name, result in _WITHOUT_ACCELERATOR.items():
            if hasattr(module, name):
                setattr(module, name, _answering(result))
    # Else ``torch.tensor(data, device=...)`` moves its tensor below every dispatch mode.
    torch._C._set_only_lift_cpu_tensors(True)


def _answering(result: Any) -> Callable[..., Any]:
    """A function of its own: Dynamo wants no two names for one."""

    def answer(*args: Any, **kwargs: Any) -> Any:
        if result is _NONE_THERE:
            raise RuntimeError("No accelerator is available")
        return result

    return answer


_NONE_THERE = object()
_WITHOUT_ACCELERATOR: dict[str, Any] = {
    **dict.fromkeys(("_lazy_init", "init", "set_device", "synchronize", "empty_cache", "reset_peak_memory_stats")),
    **dict.fromkeys(("get_device_name", "get_device_properties", "get_device_capability", "mem_get_info"), _NONE_THERE),
    "is_available": False,
    "device_count": 0,
    "current_device": 0,
    # What ``with torch.cuda.device(0):`` calls.
    "_exchange_device": -1,
    "_maybe_exchange_device": -1,
}
"""What the functions of ``torch.cuda`` and its like answer."""


def compile_in_process() -> None:
    """Let ``torch.compile`` be called: in older versions it starts processes at once, which are refused."""
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    read = sys.modules.get("torch._inductor.config")
    if read is not None:
        setattr(read, "compile_threads", 1)  # noqa: B010  # A module that mypy does not know.


def overload_packet(operator: Operator) -> Any:
    """All overloads of an operator: ``aten.add`` for ``aten.add.Tensor``."""
    return operator._overloadpacket


def is_view(operator: Operator) -> bool:
    """Whether the operator returns a view of an argument."""
    return bool(getattr(operator, "is_view", False))


def never_grows(operator: Operator) -> bool:
    """Whether the result is a view of an operand, an operand changed in place, or one broadcast with others."""
    if is_view(operator) or torch.Tag.pointwise in operator.tags:
        return True
    return operator._schema.is_mutable and overload_packet(operator).__name__ not in ("resize_", "resize_as_", "set_")


def is_batch_norm(operator: Operator) -> bool:
    """Whether this is the operator that ``torch.batch_norm`` ends in on the CPU."""
    return operator is torch.ops.aten.native_batch_norm.default


def decompose(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run the operator as simpler ones; NotImplemented if it has no decomposition."""
    return operator.decompose(*args, **kwargs)


def pretty_target(node: torch.fx.Node) -> str:
    """torch.fx's qualified name of a called function: ``torch.flatten``, ``operator.add``."""
    return node._pretty_print_target(node.target)


def used_names(graph: torch.fx.Graph) -> tuple[set[str], dict[str, int]]:
    """The names that the graph's nodes have had so far, to be given back to :func:`restore_used_names`."""
    namespace = graph._graph_namespace
    return set(namespace._used_names), dict(namespace._base_count)


def restore_used_names(graph: torch.fx.Graph, taken: tuple[set[str], dict[str, int]]) -> None:
    """Let names that were taken since be given anew, after their nodes were erased."""
    namespace = graph._graph_namespace
    namespace._used_names = set(taken[0])
    # Filled anew, not replaced: in older versions of torch it is a dict with a default.
    namespace._base_count.clear()
    namespace._base_count.update(taken[1])


def tensors_in(tree: object) -> list[torch.Tensor]:
    """The tensors in nested lists, tuples and dicts."""
    return [leaf for leaf in tree_flatten(tree)[0] if isinstance(leaf, torch.Tensor)]


def storage_key(tensor: torch.Tensor) -> int:
    """What a tensor and its views have in common, as long as one of them lives."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):
        # Sparse and opaque tensors have no storage.
        return id(tensor)


def mutated_arguments(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """The arguments that the operator changes in place."""
    schema = operator._schema
    if not schema.is_mutable:
        return []
    written = [
        args[index] if index < len(args) else kwargs.get(argument.name)
        for index, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    return tensors_in(written)
