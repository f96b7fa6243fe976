"""One process alone: no process group, and wrappers that need one call what they wrap."""

from __future__ import annotations

from typing import Any

import torch

from .guard import RefusedError


def stay_alone() -> None:
    """From now on this process joins no group, and ``DistributedDataParallel`` can be made without one."""
    if not torch.distributed.is_available():
        return
    for module in (torch.distributed, torch.distributed.distributed_c10d):
        setattr(module, "init_process_group", _refuse)  # noqa: B010  # mypy: two modules, one of which re-exports it.
    wrapper: Any = torch.nn.parallel.DistributedDataParallel
    wrapper.__init__, wrapper.forward = _initialise, _forward


def _refuse(*args: Any, **kwargs: Any) -> None:
    raise RefusedError("fxlsp does not let a file join a process group while it traces a model")


def _initialise(self: Any, module: torch.nn.Module, *args: Any, **kwargs: Any) -> None:
    torch.nn.Module.__init__(self)
    self.module = module


def _forward(self: Any, *inputs: Any, **kwargs: Any) -> Any:
    return self.module(*inputs, **kwargs)
