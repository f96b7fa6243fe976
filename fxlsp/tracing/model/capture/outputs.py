"""Values of nodes as the JSON of the contract (``OUTPUT``)."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from typing import Any

import torch
import torch.fx

from ....report.graph import Output
from ..diagnosis.failures import readable, text_of
from ..operations.operation import is_method_of_tensor, shape_text


class Unknown:
    """Value of a node that was not run or failed."""

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN = Unknown()


def output_of(value: object) -> Output | None:
    """Return a value as JSON; None if it is unknown."""
    if isinstance(value, Unknown) or issubclass(type(value), torch.fx.Proxy):
        # A proxy stands for a value; of a graph that runs it is none.
        return None
    if isinstance(value, torch.Tensor):
        return {"shape": [int(size) for size in value.shape], "dtype": str(value.dtype).removeprefix("torch.")}
    if value is None or isinstance(value, (bool, int, str)):
        return {"value": value}
    if isinstance(value, float):
        return {"value": value if math.isfinite(value) else str(value)}
    fields = _fields(value)
    if fields is not None:
        return {"dict": {str(key): output_of(item) for key, item in fields.items()}}
    if isinstance(value, (list, tuple)):
        return {"list": [output_of(item) for item in value]}
    return {"type": type(value).__name__}


def _fields(value: object) -> Mapping[Any, Any] | None:
    if isinstance(value, Mapping):
        return value
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        named: Mapping[Any, Any] = value._asdict()
        return named
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
    return None


def holds_proxy(value: Any) -> bool:
    """Return whether a value or an item of it is a proxy, by type, because a proxy may claim another class."""
    kind = type(value)
    if issubclass(kind, torch.fx.Proxy):
        return True
    if issubclass(kind, dict):
        return any(holds_proxy(item) for item in dict.values(value))
    return issubclass(kind, (list, tuple)) and any(holds_proxy(item) for item in value)


def holds_unknown(value: object) -> bool:
    """Return whether any part of a value is unknown."""
    if isinstance(value, Unknown):
        return True
    if isinstance(value, Mapping):
        return any(holds_unknown(item) for item in value.values())
    if isinstance(value, (list, tuple)):
        return any(holds_unknown(item) for item in value)
    if isinstance(value, slice):
        return any(holds_unknown(item) for item in (value.start, value.stop, value.step))
    return False


def is_known(output: Output | None) -> bool:
    """Return whether every part of a JSON output is known."""
    if output is None:
        return False
    if "list" in output:
        return all(is_known(item) for item in output["list"])
    if "dict" in output:
        return all(is_known(item) for item in output["dict"].values())
    return True


def shown(values: tuple[object, ...]) -> str:
    """Return operands as text for a message: ``(1, 64, 56, 56), 2``."""
    return ", ".join(_shown(value) for value in values)


def _shown(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return shape_text(value.shape)
    if isinstance(value, (list, tuple)):
        return f"[{shown(tuple(value))}]"
    if is_method_of_tensor(value):
        return f"the method {value.__name__} of {_shown(value.__self__)}"
    return readable(text_of(value, repr))
