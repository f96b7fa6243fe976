"""Weights are never read: what would load them returns a marker that ``load_state_dict`` accepts and ignores."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn.modules.module import _IncompatibleKeys


class WeightsNotRead(dict[str, Any]):
    """Stands for a checkpoint: empty, and whatever is looked up in it is such a marker again."""

    def __missing__(self, key: str) -> WeightsNotRead:
        return self

    def get(self, key: str, default: Any = None) -> Any:
        return self


def leave_weights_unread() -> None:
    """Replace torch's loaders; called once, before any package is imported that could keep the originals."""
    torch.load = _not_read
    torch.hub.load_state_dict_from_url = _not_read
    original = torch.nn.Module.load_state_dict

    def load_state_dict(self: torch.nn.Module, state_dict: Any, *args: Any, **kwargs: Any) -> Any:
        if isinstance(state_dict, WeightsNotRead):
            return _IncompatibleKeys([], [])
        return original(self, state_dict, *args, **kwargs)

    torch.nn.Module.load_state_dict = load_state_dict  # type: ignore[method-assign]


def _not_read(*args: Any, **kwargs: Any) -> WeightsNotRead:
    return WeightsNotRead()
