"""Private parts of ``torch.distributed``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch


def begin_before_default_group(c10d: Any, begin: Callable[[], None]) -> None:
    """Call ``begin`` before each look-up of the default process group.

    Fallback: none; collectives then raise torch's error that no group was initialised.
    """
    default: Callable[[], Any] | None = getattr(c10d, "_get_default_group", None)
    if default is None:
        return

    def get_default_group() -> Any:
        begin()
        return default()

    c10d._get_default_group = get_default_group


def store_of_one() -> Any:
    """Return a store of a group of one process. Fallback: a table in memory."""
    try:
        from torch.testing._internal.distributed.fake_pg import FakeStore
    except ImportError:
        return torch.distributed.HashStore()  # type: ignore[attr-defined]
    return FakeStore()
