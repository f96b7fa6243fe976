"""Numbers in constructors of layers that would fit the tensors which the layers are given."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from ...isolation.torch_private.layers import CONVOLUTIONS, NORMS
from .operation import Operation


@dataclass(frozen=True)
class LayerNumber:
    """Argument of a layer's constructor that says how large its input is."""

    argument: str
    unit: str
    """What is counted: ``features``."""
    value: int
    """Value of the argument for the layer as it is."""
    fitting: int
    """Value for the tensor that the layer is given."""


_Size = Callable[[torch.Tensor, Any], int]


def _last(given: torch.Tensor, layer: Any) -> int:
    return int(given.shape[-1])


def _convolved(given: torch.Tensor, layer: Any) -> int:
    return int(given.shape[-1 - len(layer.kernel_size)])


def _normalized(given: torch.Tensor, layer: Any) -> int:
    return int(given.shape[1])


_NUMBERS: tuple[tuple[type[nn.Module] | tuple[type[nn.Module], ...], str, str, _Size], ...] = (
    (nn.Linear, "in_features", "features", _last),
    (CONVOLUTIONS, "in_channels", "channels", _convolved),
    (nn.GroupNorm, "num_channels", "channels", _normalized),
    (NORMS, "num_features", "channels", _normalized),
    ((nn.LayerNorm, nn.RMSNorm), "normalized_shape", "features", _last),
    ((nn.RNNBase, nn.RNNCellBase), "input_size", "features", _last),
    (nn.PReLU, "num_parameters", "channels", _normalized),
)
"""Layers, and where their input's size stands. No table of entries: the largest index of one input proves nothing."""
_BILINEAR = ("in1_features", "in2_features")


def fitting_number(operation: Operation) -> LayerNumber | None:
    """Return the number that a layer should have been made with to take its input.

    None if no number does. Whether the layer then runs is another question: see :func:`rebuilt`.
    """
    layer = operation.module
    try:
        found = None if layer is None else _number(operation, layer)
    except Exception:
        # Attributes of a layer may be anything of the user's.
        return None
    return None if found is None or found.value == found.fitting or found.fitting < 1 else found


def _number(operation: Operation, layer: Any) -> LayerNumber | None:
    if isinstance(layer, nn.Bilinear):
        pairs = [(name, operation.tensor(at, f"input{at + 1}")) for at, name in enumerate(_BILINEAR)]
        wrong = [
            (name, given) for name, given in pairs if given is not None and _last(given, 0) != getattr(layer, name)
        ]
        return _of(layer, wrong[0][0], "features", _last(wrong[0][1], layer)) if len(wrong) == 1 else None
    given = operation.tensor(0, "input")
    for kinds, argument, unit, size in _NUMBERS if given is not None else ():
        if isinstance(layer, kinds):
            assert given is not None
            return _of(layer, argument, unit, size(given, layer))
    return None


def _of(layer: Any, argument: str, unit: str, fitting: int) -> LayerNumber | None:
    value = getattr(layer, argument)
    if isinstance(value, (tuple, list)):
        (value,) = value
    return LayerNumber(argument, unit, value, fitting) if type(value) is int else None


def rebuilt(layer: nn.Module, number: LayerNumber) -> nn.Module | None:
    """Return a new layer like another one but for one argument of its constructor.

    None if it is not known how to make such a layer: only layers of torch that are as their constructor left them are
    rebuilt.
    """
    if not type(layer).__module__.startswith("torch.nn.") or _has_hooks(layer):
        return None
    arguments = _arguments(layer)
    if arguments is None or number.argument not in arguments:
        return None
    try:
        if _shapes(type(layer)(**arguments)) != _shapes(layer):
            return None
        made = type(layer)(**{**arguments, number.argument: number.fitting})
    except Exception:
        return None
    return made.train(layer.training)


def _has_hooks(layer: nn.Module) -> bool:
    return bool(layer._forward_hooks or layer._forward_pre_hooks) or "forward" in vars(layer)


def _shapes(layer: nn.Module) -> dict[str, tuple[torch.Size, torch.dtype]]:
    return {name: (value.shape, value.dtype) for name, value in layer.state_dict(keep_vars=True).items()}


def _arguments(layer: nn.Module) -> dict[str, Any] | None:
    """Return the arguments of a layer's constructor, as its attributes say."""
    names = list(inspect.signature(type(layer).__init__).parameters)[1:]
    if isinstance(layer, nn.RNNBase):
        names = ["input_size", "hidden_size", "num_layers", "bias", "batch_first", "dropout", "bidirectional"]
        names += ["nonlinearity"] * hasattr(layer, "nonlinearity") + ["proj_size"] * bool(layer.proj_size)
    dtype = next((each.dtype for each in layer.parameters()), None)
    arguments: dict[str, Any] = {"dtype": dtype} if dtype is not None else {}
    for name in names:
        if name in ("device", "dtype") or name.startswith("_"):
            continue
        if not hasattr(layer, name):
            return None
        value = getattr(layer, name)
        is_parameter = name in layer._parameters
        arguments[name] = value is not None if is_parameter else value
    return arguments
