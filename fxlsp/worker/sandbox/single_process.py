"""Refusal of process groups; wrappers that need one call what they wrap."""

from __future__ import annotations

import sys
from typing import Any

import torch

from .audit import RefusedError


def refuse_process_groups() -> None:
    """Make process groups raise, and ``DistributedDataParallel`` work without one."""
    if not torch.distributed.is_available():
        return
    for name in ("torch.distributed", "torch.distributed.distributed_c10d", "torch.distributed.rendezvous"):
        # The store of a group, and of RPC, opens its ports in C++, without an audit event.
        for function in ("init_process_group", "TCPStore"):
            if hasattr(sys.modules[name], function):
                setattr(sys.modules[name], function, _refuse)
    wrapper: Any = torch.nn.parallel.DistributedDataParallel
    wrapper.__init__, wrapper.forward = _initialise, _forward


def _refuse(*args: Any, **kwargs: Any) -> None:
    raise RefusedError("fxlsp does not let a file join a process group while it traces a model")


def _initialise(self: Any, module: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
    torch.nn.Module.__init__(self)
    self.module = module


def _forward(self: Any, *inputs: Any, **kwargs: Any) -> Any:
    return self.module(*inputs, **kwargs)
