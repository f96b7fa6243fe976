"""Fake tensors, dispatch modes and operators, and the names of nodes.

There is no fallback where none is stated: nothing is traced without fake tensors.
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
    UnsupportedOperatorException,
)
from torch.utils._pytree import tree_flatten
from torch.utils.flop_counter import flop_registry

WITHOUT_DATA = (DataDependentOutputException, DynamicOutputShapeException, UnsupportedOperatorException)
"""Exceptions of fake tensors where a result depends on data: not the user's fault."""
CHECKPOINT_PARTS = ("_checkpoint_without_reentrant_generator", "_checkpoint_without_reentrant_generator_impl")
"""Functions that ``torch.utils.checkpoint.checkpoint`` calls, in older and in newer versions."""

Operator = torch._ops.OpOverload


def native_writers() -> tuple[tuple[Any, str, int], ...]:
    """Return the functions of torch that write files in C++: owner, name, and which argument is the path."""
    return (
        (torch._C, "PyTorchFileWriter", 0),
        (torch.jit, "save", 1),
        (torch.jit._script.RecursiveScriptModule, "save", 1),
        (torch.autograd.profiler.profile, "export_chrome_trace", 1),
    )


def flop_formula(operator: Operator) -> Callable[..., Any] | None:
    """Return the FLOP formula of an operator from torch.utils.flop_counter, if any.

    The formula takes the operator's arguments, and its result as ``out_val``.
    """
    formula: Callable[..., Any] | None = flop_registry.get(overload_packet(operator))
    return formula


def disable_accelerators() -> None:
    """Make torch report no accelerator, and never initialise one.

    Tensors may still be requested on ``cuda``: a dispatch mode puts them on the CPU. The change lasts as long as this
    process and those forked from it, which could not initialise CUDA anyway. Functions that would choose an accelerator
    or wait for one do nothing. Fake tensors, too, query the accelerator again and again.
    """
    for device in ("cuda", "xpu", "mtia"):
        module = getattr(torch, device, None)
        for name, result in _WITHOUT_ACCELERATOR.items():
            if hasattr(module, name):
                setattr(module, name, _answering(result))
    # Otherwise ``torch.tensor(data, device=...)`` moves its tensor below every dispatch mode.
    torch._C._set_only_lift_cpu_tensors(True)


def _answering(result: Any) -> Callable[..., Any]:
    """Return a new function: Dynamo requires that no function has two names."""

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
"""Results of the functions of ``torch.cuda`` and the modules of other accelerators."""


def compile_in_process() -> None:
    """Keep ``torch.compile`` from starting processes, which the sandbox would refuse.

    Older versions of torch start them at once.
    """
    os.environ["TORCHINDUCTOR_COMPILE_THREADS"] = "1"
    read = sys.modules.get("torch._inductor.config")
    if read is not None:
        setattr(read, "compile_threads", 1)  # noqa: B010  # A module that mypy does not know.


def overload_packet(operator: Operator) -> Any:
    """Return an operator's overload packet: ``aten.add`` for ``aten.add.Tensor``."""
    return operator._overloadpacket


def is_view(operator: Operator) -> bool:
    """Return whether the operator returns a view of an argument."""
    return bool(getattr(operator, "is_view", False))


def never_grows(operator: Operator) -> bool:
    """Return whether an operator's result is never larger than its broadcast operands.

    The result is a view of an operand, an operand changed in place, or an element-wise result.
    """
    if is_view(operator) or torch.Tag.pointwise in operator.tags:
        return True
    return operator._schema.is_mutable and overload_packet(operator).__name__ not in ("resize_", "resize_as_", "set_")


def fake_device(operator: Operator, operand: Any) -> torch.device | None:
    """Return the device of a fake tensor if an operator asks for it, as torch's functions often do; else None."""
    if operator is not torch.ops.prim.device.default or not isinstance(operand, FakeTensor):
        return None
    device: torch.device | None = None if operand.fake_mode.in_kernel_invocation else operand.fake_device
    return device


def is_batch_norm(operator: Operator) -> bool:
    """Return whether ``torch.batch_norm`` dispatches to this operator on the CPU."""
    return operator is torch.ops.aten.native_batch_norm.default


def is_lstm_layer(operator: Operator) -> bool:
    """Return whether an LSTM's layer dispatches to this operator on the CPU: oneDNN's, in one direction."""
    return bool(overload_packet(operator).__name__ == "mkldnn_rnn_layer")


def reads_number(operator: Operator) -> bool:
    """Return whether an operator reads the number of a tensor of one element, as ``item`` does."""
    return operator is torch.ops.aten._local_scalar_dense.default


def decompose(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an operator as simpler ones, and return the result.

    NotImplemented is returned if the operator has no decomposition.
    """
    return operator.decompose(*args, **kwargs)


def pretty_target(node: torch.fx.Node) -> str:
    """Return torch.fx's qualified name of a called function: ``torch.flatten``."""
    return node._pretty_print_target(node.target)


def used_names(graph: torch.fx.Graph) -> tuple[set[str], dict[str, int]]:
    """Return the names used by a graph, as :func:`restore_used_names` takes them."""
    namespace = graph._graph_namespace
    return set(namespace._used_names), dict(namespace._base_count)


def restore_used_names(graph: torch.fx.Graph, taken: tuple[set[str], dict[str, int]]) -> None:
    """Free the names of nodes that were erased since ``taken`` was recorded."""
    namespace = graph._graph_namespace
    namespace._used_names = set(taken[0])
    # Refilled, not replaced: in older versions of torch it is a defaultdict.
    namespace._base_count.clear()
    namespace._base_count.update(taken[1])


def tensors_in(tree: object) -> list[torch.Tensor]:
    """Return the tensors in nested lists, tuples and dicts."""
    found: list[torch.Tensor] = []
    _add_tensors(tree, found)
    return found


_WITHOUT_TENSORS = frozenset(
    {type(None), bool, int, float, complex, str, torch.dtype, torch.device, torch.layout, torch.memory_format}
)


def _add_tensors(tree: object, found: list[torch.Tensor]) -> None:
    # Operators take flat arguments: torch's own functions for trees would take ten times as long.
    kind = type(tree)
    if kind in _WITHOUT_TENSORS:
        return
    if kind is list or kind is tuple:
        for item in tree:  # type: ignore[attr-defined]
            _add_tensors(item, found)
    elif kind is dict:
        for item in tree.values():  # type: ignore[attr-defined]
            _add_tensors(item, found)
    elif isinstance(tree, torch.Tensor):
        found.append(tree)
    else:
        found += (leaf for leaf in tree_flatten(tree)[0] if isinstance(leaf, torch.Tensor))


def storage_key(tensor: torch.Tensor) -> int:
    """Return a key that a tensor shares with its views, valid while one of them lives."""
    try:
        return int(tensor.untyped_storage()._cdata)
    except (NotImplementedError, RuntimeError):
        # Sparse and opaque tensors have no storage.
        return id(tensor)


def mutated_arguments(operator: Operator, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[torch.Tensor]:
    """Return the tensors among an operator's arguments that it changes in place."""
    schema = operator._schema
    if not schema.is_mutable:
        return []
    written = [
        args[index] if index < len(args) else kwargs.get(argument.name)
        for index, argument in enumerate(schema.arguments)
        if argument.alias_info is not None and argument.alias_info.is_write
    ]
    return tensors_in(written)
