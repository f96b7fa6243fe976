"""Replacement of every device by the CPU.

No trace needs another device, and initialising one takes seconds.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.overrides import TorchFunctionMode

_MOVES = ("cuda", "xpu", "mtia", "ipu")
"""Methods of a tensor that move it to the device of that name."""


class DevicesAreCpu(TorchFunctionMode):
    """Function mode that replaces devices in calls of torch's functions by the CPU.

    A dispatch mode would be too late: ``x.cuda()`` and ``torch.tensor(data, device="cuda")`` look for the device first,
    and raise if torch is built without it or finds no driver.
    """

    def __torch_function__(
        self, func: Any, types: Any, args: tuple[Any, ...] = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        name = getattr(func, "__name__", "")
        if name in _MOVES and isinstance(args[0], torch.Tensor):
            return args[0]
        if name == "to":
            args = (args[0], *(_cpu_for(argument) for argument in args[1:]))
        return func(*args, **on_cpu(kwargs or {}))


def on_cpu(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return keyword arguments in which a ``device`` is replaced by the CPU."""
    device = kwargs.get("device")
    return kwargs if device is None else {**kwargs, "device": _cpu_for(device)}


def redirect_defaults_to_cpu() -> None:
    """Make torch's functions that set a default device choose the CPU."""
    set_device, set_type = torch.set_default_device, torch.set_default_tensor_type

    def set_default_device(device: Any) -> None:
        set_device(_cpu_for(device))

    def set_default_tensor_type(t: Any) -> None:
        name = t if isinstance(t, str) else f"{getattr(t, '__module__', '')}.{getattr(t, '__name__', '')}"
        set_type(name.replace("torch.cuda.", "torch.") if name.startswith("torch.cuda.") else t)

    torch.set_default_device = set_default_device
    torch.set_default_tensor_type = set_default_tensor_type


def _cpu_for(value: Any) -> Any:
    """Return the CPU for a device or its name; other values unchanged.

    Unchanged are dtypes, tensors, flags and the device ``meta``.
    """
    if isinstance(value, bool) or not isinstance(value, (str, int, torch.device)):
        return value
    return value if torch.device(value).type in ("cpu", "meta") else torch.device("cpu")
