"""Owners of tensors that are no parameters or buffers: attributes, lists, globals."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import torch

from ....model import module_tree
from ....model.building.state_snapshot import is_plain_object
from .pass_result import PassResult

_LARGEST = 1000


@dataclass(frozen=True)
class TensorOwner:
    """Attribute, container or global that holds a tensor."""

    description: str
    in_container: bool


def owner_of(traced: PassResult, tensor: torch.Tensor) -> TensorOwner | None:
    """Return the owner of ``tensor``: of modules first, then of the globals used."""
    for path, module in module_tree.named_modules(traced.root):
        for name, value in vars(module).items():
            if not name.startswith("_"):
                depth = _depth(value, tensor)
                if depth is not None:
                    kind = "the attribute" if depth == 0 else f"the {type(value).__name__}"
                    return TensorOwner(f"{kind} {path}.{name}" if path else f"{kind} {name}", depth > 0)
    for name, value in traced.executed.globals():
        depth = _depth(value, tensor)
        if depth is not None:
            return TensorOwner(f"the global {name}", False)
    return None


def _depth(value: Any, tensor: torch.Tensor, deepest: int = 3) -> int | None:
    """Return the number of containers in ``value`` around the tensor; None if absent."""
    if value is tensor:
        return 0
    if deepest == 0:
        return None
    for item in _items(value):
        depth = _depth(item, tensor, deepest - 1)
        if depth is not None:
            return depth + 1
    return None


def _items(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        items: list[Any] = list(value.values())
    elif isinstance(value, (list, tuple, set)):
        items = list(value)
    elif is_plain_object(value):
        items = list(vars(value).values())
    else:
        return
    if len(items) <= _LARGEST:
        yield from items
