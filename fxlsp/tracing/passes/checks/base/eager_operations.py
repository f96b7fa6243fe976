"""Operations that ran eagerly during a pass, whose results are graph constants."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import torch

from ....isolation.torch_private import (
    Operator,
    TorchDispatchMode,
    mutated_arguments,
    overload_packet,
    reads_number,
    storage_key,
    tensors_in,
)
from ....model import module_tree
from ....model.capture.tracer import ModulePathTracer
from ....model.locations.bytecode.instructions import walk_out
from ....model.locations.code_origin import is_torch
from ....model.locations.source_map import CallStack


@dataclass(frozen=True)
class TensorOrigin:
    """State and tensors from which a tensor was computed."""

    state: frozenset[str] = frozenset()
    """Paths of buffers and parameters."""
    foreign: tuple[torch.Tensor, ...] = ()
    """Tensors that existed before the pass and belong to no module."""
    random: bool = False


@dataclass(frozen=True)
class EagerOperation:
    """One operation that ran eagerly."""

    name: str
    call_stack: CallStack
    module_path: str
    origin: TensorOrigin
    """Origin of its result."""
    written: frozenset[str] = frozenset()
    """Paths of the buffers and parameters that it changed in place."""
    draws: bool = False
    """Whether it drew random numbers."""
    reads_number: bool = False
    """Whether it converted a tensor to a Python number."""


class EagerOperations(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Dispatch mode that records each operation of the model that runs eagerly."""

    def __init__(self, root: torch.nn.Module, tracer: ModulePathTracer) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self.notes: list[EagerOperation] = []
        self._root = root
        self._tracer = tracer
        self._state: dict[int, str] | None = None
        self._made: dict[int, TensorOrigin] = {}
        self._results: dict[int, EagerOperation] = {}
        self._last: dict[int, EagerOperation] = {}
        self._kept: list[Any] = []

    def made_by(self, tensor: torch.Tensor) -> EagerOperation | None:
        """Return the operation that produced ``tensor``; None if it precedes the pass."""
        # Autograd may wrap a view in another object on its way to the caller.
        return self._results.get(id(tensor)) or self._last.get(storage_key(tensor))

    def __torch_dispatch__(
        self, func: Operator, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        result = func(*args, **kwargs)
        if not self._tracer.evaluating:
            self._note(func, args, kwargs, result)
        return result

    def _note(self, func: Operator, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        if self._state is None:
            named = (*module_tree.named_buffers(self._root), *module_tree.named_parameters(self._root))
            self._state = {storage_key(tensor): name for name, tensor in reversed(named)}
        draws = torch.Tag.nondeterministic_seeded in func.tags
        origin = self._origin(tensors_in((args, kwargs)), draws)
        written = mutated_arguments(func, args, kwargs)
        operation = EagerOperation(
            overload_packet(func).__name__.rstrip("_"),
            self._tracer.call_stack(),
            self._tracer.current_path,
            origin,
            frozenset(self._state[storage_key(tensor)] for tensor in written if storage_key(tensor) in self._state),
            draws and not _initialises_module(),
            reads_number(func),
        )
        self.notes.append(operation)
        results = tensors_in(result)
        # Once released, its address could be reused by another tensor.
        self._kept.append(results)
        for tensor in results:
            key = storage_key(tensor)
            if key not in self._state:
                self._made[key] = origin
            self._results[id(tensor)] = self._last[key] = operation

    def _origin(self, operands: list[torch.Tensor], draws: bool) -> TensorOrigin:
        state: set[str] = set()
        foreign: list[torch.Tensor] = []
        for tensor in operands:
            key = storage_key(tensor)
            if self._state is not None and key in self._state:
                state.add(self._state[key])
            elif key in self._made:
                before = self._made[key]
                state |= before.state
                foreign += before.foreign
                draws = draws or before.random
            elif id(tensor) not in self._results:
                foreign.append(tensor)
        return TensorOrigin(frozenset(state), tuple(foreign), draws)


def _initialises_module() -> bool:
    """Return whether a module is being constructed, which draws its parameters."""
    return any(
        frame.f_code.co_name in ("__init__", "reset_parameters") and is_torch(frame.f_code.co_filename)
        for frame in walk_out(sys._getframe(1))
    )
