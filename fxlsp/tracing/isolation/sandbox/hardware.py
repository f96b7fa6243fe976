"""What a model asks of hardware that this machine may lack: done by nothing, if its result is known without.

A kernel writes into tensors that exist, a stream orders what is in order anyway.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from contextlib import nullcontext, suppress
from typing import Any

import torch
import torch.fx

from ..torch_private.modules import tolerate_missing_backward
from .weights import patch_on_import


def do_without_hardware() -> None:
    """Replace launches of Triton's kernels, streams, and refusals of the CPU. Called once."""
    cuda: Any = torch.cuda
    cuda.Stream, cuda.Event = _Stream, _Event
    for owner, names, make in (
        (cuda, ("device", "device_of", "stream"), nullcontext),
        (cuda, ("current_stream", "default_stream"), _Stream),
        (cuda, ("set_device", "set_stream"), lambda: None),
        (cuda.nvtx, ("range",), nullcontext),
        (cuda.nvtx, ("range_push", "range_pop", "mark"), lambda: 0),
    ):
        for name in names:
            setattr(owner, name, _making(make))
    patch_on_import(
        {
            "triton.runtime.jit": _skip_kernels,
            "triton.runtime.autotuner": _skip_tuned_kernels,
            "torch.nn.attention.flex_attention": tolerate_missing_backward,
        }
    )


class _Stream:
    """Stream or event: whatever is called of it returns at once."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        self.device = torch.device("cpu")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return lambda *args, **kwargs: None

    def __enter__(self) -> _Stream:
        return self

    def __exit__(self, *exception: object) -> None:
        return None

    def record_event(self, event: Any = None) -> Any:
        return event or _Event()

    def query(self) -> bool:
        return True


class _Event(_Stream):
    def elapsed_time(self, end: Any) -> float:
        return 0.0


def _making(make: Callable[[], Any]) -> Callable[..., Any]:
    """Return a new function: Dynamo requires that no function has two names."""
    return lambda *args, **kwargs: make()


def _skip_kernels(module: Any) -> None:
    module.JITFunction.run = _launch


def _skip_tuned_kernels(module: Any) -> None:
    for name in ("Autotuner", "Heuristics"):
        if hasattr(module, name):
            getattr(module, name).run = _launch
    if hasattr(module, "Autotuner"):
        module.Autotuner.__init__ = _without_driver(module.Autotuner.__init__)


def _without_driver(construct: Callable[..., None]) -> Callable[..., None]:
    """Return a constructor that ends where it asks for a driver, which it does last, to measure launches.

    Triton up to 3.2 asks when a kernel is defined, later versions at its first launch.
    """

    @functools.wraps(construct)
    def construct_as_far_as_possible(*args: Any, **kwargs: Any) -> None:
        with suppress(RuntimeError):
            construct(*args, **kwargs)

    return construct_as_far_as_possible


def _launch(kernel: Any, *args: Any, **kwargs: Any) -> None:
    """Launch nothing; a proxy is refused, as it has no memory."""
    if any(issubclass(type(each), torch.fx.Proxy) for each in (*args, *kwargs.values())):
        raise TypeError("'Proxy' object cannot be interpreted as an integer")
