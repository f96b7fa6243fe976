"""A process group of this process alone, in place of one that a file would join; wrappers call what they wrap.

Its collectives move nothing, so what a model does with them has its shapes.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import torch

from ..torch_private.processes import begin_before_default_group, store_of_one
from .audit import RefusedError


def stay_alone() -> None:
    """Replace process groups by a fake one, and make ``DistributedDataParallel`` work without any."""
    if not torch.distributed.is_available():
        return
    modules = [sys.modules[f"torch.distributed{name}"] for name in ("", ".distributed_c10d", ".rendezvous")]
    group = _FakeGroup(modules[1])
    for module in modules:
        if hasattr(module, "init_process_group"):
            module.init_process_group = group.begin  # type: ignore[attr-defined]
        if hasattr(module, "TCPStore"):
            # It opens its ports in C++, without an audit event.
            module.TCPStore = _refuse  # type: ignore[attr-defined]
    wrapper: Any = torch.nn.parallel.DistributedDataParallel
    wrapper.__init__, wrapper.forward = _initialise, _forward


class _FakeGroup:
    """The group of this process, which begins when it is first needed."""

    def __init__(self, c10d: Any) -> None:
        self._c10d = c10d
        self._initialise: Callable[..., None] = c10d.init_process_group
        # What asks ``is_initialized()`` first is answered that there is none.
        begin_before_default_group(c10d, self.begin)

    def begin(self, *args: Any, **kwargs: Any) -> None:
        """Begin the group, whatever a file would join."""
        if self._c10d.is_initialized():
            return
        self._initialise("fake", store=store_of_one(), rank=0, world_size=1)


def _refuse(*args: Any, **kwargs: Any) -> None:
    raise RefusedError("fxlsp does not let a file open a store of a process group while it traces a model")


def _initialise(self: Any, module: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
    torch.nn.Module.__init__(self)
    self.module = module


def _forward(self: Any, *inputs: Any, **kwargs: Any) -> Any:
    return self.module(*inputs, **kwargs)
