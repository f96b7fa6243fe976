"""Real tensors in the place of fake ones, to repeat the one operation that failed in torch's own words."""

from __future__ import annotations

from typing import Any

import torch

from ..torch_private import tensors_in, tree_map

REAL_ELEMENTS = 2**26
"""A failing operation is repeated on real tensors if they hold no more elements than this (256 MB of float32)."""


def can_be_real(tree: object) -> bool:
    """Whether the tensors in nested containers are small enough to be made really."""
    return sum(_extent(tensor) for tensor in tensors_in(tree)) <= REAL_ELEMENTS


def real_twins(tree: Any) -> Any:
    """Nested containers with a real tensor in the place of each tensor."""
    return tree_map(_real, tree)


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
