"""Copies, pickles and addresses of fake tensors, which a model asks for while it is built.

torch cannot pickle a fake tensor: the state that it would write holds the mode, and the mode holds caches.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from ...isolation.torch_private import FakeTensor, FakeTensorMode, no_dispatch


def give_fakes_addresses() -> None:
    """Let two fake tensors have one address only if they share memory. Called once."""
    FakeTensor.data_ptr = _address  # type: ignore[method-assign, assignment]


def _address(fake: FakeTensor) -> int:
    with no_dispatch():
        storage = fake.untyped_storage()._cdata
        # Counted, so that each trace shows the same.
        start = _addresses.setdefault(storage, (len(_addresses) + 1) * _LARGEST_STORAGE)
        return start + int(fake.storage_offset()) * fake.element_size()


_LARGEST_STORAGE = 2**40
_addresses: dict[int, int] = {}
"""Address of each storage, by that of its description."""


_modes: dict[int, FakeTensorMode] = {}
"""Modes of tensors that were pickled in this process, where they are unpickled too."""

_State = tuple[int, tuple[int, ...], tuple[int, ...], torch.dtype, bool, bool]


def make_fakes_picklable() -> None:
    """Pickle a fake tensor as its shape, strides, dtype and kind. Called once."""
    FakeTensor.__reduce_ex__ = _reduced  # type: ignore[method-assign,assignment]


def _reduced(fake: FakeTensor, protocol: Any) -> tuple[Callable[..., torch.Tensor], _State]:
    _modes[id(fake.fake_mode)] = fake.fake_mode
    is_parameter = isinstance(fake, torch.nn.Parameter)
    state = (id(fake.fake_mode), tuple(fake.shape), tuple(fake.stride()), fake.dtype, fake.requires_grad, is_parameter)
    return _restored, state


def _restored(
    mode: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
    dtype: torch.dtype,
    requires_grad: bool,
    is_parameter: bool,
) -> torch.Tensor:
    with _modes[mode]:
        fake = torch.empty_strided(shape, strides, dtype=dtype, device="cpu")
    if is_parameter:
        return torch.nn.Parameter(fake, requires_grad)
    return fake.requires_grad_(requires_grad)
