"""Operation that failed, its mismatch, and the words for sizes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import BuiltinMethodType, MethodType
from typing import Any

import torch

Key = tuple[int | str, ...]
"""Path to an operand: position or name of an argument, then an index if the argument is a list."""


@dataclass(frozen=True)
class Fit:
    """Tensor that would fit in the place of an operand."""

    shape: tuple[int, ...]
    dtype: torch.dtype | None = None
    """None is the operand's own dtype."""


@dataclass(frozen=True)
class Mismatch:
    """Reason why operands do not fit, and operands that would fit."""

    headline: str
    """One line without a full stop."""
    fitting: Mapping[Key, Fit | int] = field(default_factory=dict)
    """Replacements with which the operation yields what it was meant to yield; empty if they are unknown."""
    is_certain: bool = True
    """Whether the sizes of the result with ``fitting`` are the same however the mismatch is repaired."""
    otherwise: Mapping[Key, Fit | int] = field(default_factory=dict)
    """Other replacements that repair an uncertain mismatch as well; empty if they are unknown."""
    is_of_size: bool = False
    """Whether the operand has one size that is not the layer's own, and nothing else seems wrong with it."""


@dataclass(frozen=True)
class Operation:
    """Call of a function, a method or a module in a graph, with the values of its arguments."""

    op: str
    """Opcode of the node."""
    target: Any
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    module: torch.nn.Module | None = None

    @property
    def name(self) -> str:
        """Name of a function or method of torch without marks of changes in place; "" for others."""
        if self.op == "call_method":
            name = str(self.target) if self.args and isinstance(self.args[0], torch.Tensor) else ""
        elif self.op == "call_function" and _is_of_torch(self.target):
            name = str(getattr(self.target, "__name__", "")).partition(".")[0]
            if getattr(self.target, "__module__", None) == "_operator":
                name = _IN_PLACE_OPERATORS.get(name, name)
        else:
            name = ""
        return name.strip("_")

    @property
    def is_in_place(self) -> bool:
        """Whether the first operand is changed: ``x += y``, ``x.add_(y)``."""
        name = str(getattr(self.target, "__name__", self.target))
        of_operator = getattr(self.target, "__module__", None) == "_operator"
        return name in _IN_PLACE_OPERATORS if of_operator else name.endswith("_") and not name.endswith("__")

    @property
    def label(self) -> str:
        """Name for a headline: ``layer `down``` of a module, ```cat``` of a function."""
        return f"layer `{layer_name(str(self.target))}`" if self.module is not None else f"`{self.name}`"

    def key(self, position: int, name: str) -> Key:
        """Return the key of an argument by its position or name."""
        return (position,) if position < len(self.args) else (name,)

    def value(self, position: int, name: str, default: Any = None) -> Any:
        """Return the value of an argument by its position or name."""
        return self.args[position] if position < len(self.args) else self.kwargs.get(name, default)

    def tensor(self, position: int, name: str) -> torch.Tensor | None:
        """Return an argument if it is a tensor."""
        value = self.value(position, name)
        return value if isinstance(value, torch.Tensor) else None

    def tensors(self) -> Iterator[tuple[Key, torch.Tensor]]:
        """Yield the arguments that are tensors, in order."""
        keys: list[int | str] = [*range(len(self.args)), *self.kwargs]
        for key, value in zip(keys, (*self.args, *self.kwargs.values()), strict=True):
            if isinstance(value, torch.Tensor):
                yield (key,), value

    def uncalled_method(self) -> str | None:
        """Return the name of the first argument, or item of a list, that is a method of a tensor; None without one."""
        for value in (*self.args, *self.kwargs.values()):
            items = value if isinstance(value, (tuple, list)) else (value,)
            for item in items:
                if is_method_of_tensor(item):
                    return str(item.__name__)
        return None


_IN_PLACE_OPERATORS = {
    f"i{name}": name
    for name in (
        *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"),
        *("and", "or", "xor", "lshift", "rshift"),
    )
}


def _is_of_torch(function: Any) -> bool:
    module = getattr(function, "__module__", None)
    # Functions of torch that are written in C++ have no module.
    return module is None or module == "_operator" or module.partition(".")[0] == "torch"


def layer_name(path: str) -> str:
    """Return the attribute that holds a module, with the indices into its containers.

    Example:
        >>> layer_name("encoder.blocks.0"), layer_name("encoder.down")
        ('blocks.0', 'down')
    """
    parts = path.split(".")
    start = len(parts) - 1
    while start > 0 and parts[start].isdigit():
        start -= 1
    return ".".join(parts[start:])


def shape_text(shape: Iterable[int]) -> str:
    """Return a shape as Python writes it: ``(2, 16)``."""
    return str(tuple(int(size) for size in shape))


def sizes_text(sizes: Iterable[int]) -> str:
    """Return the sizes of a window or an image: ``3 x 3``."""
    return " x ".join(str(int(size)) for size in sizes)


def dtype_text(dtype: torch.dtype) -> str:
    """Return the name of a dtype: ``float32``."""
    return str(dtype).removeprefix("torch.")


def with_size(tensor: torch.Tensor, dimension: int, size: int) -> Fit:
    """Return a tensor of the same shape but for one dimension."""
    shape = [int(each) for each in tensor.shape]
    shape[dimension] = size
    return Fit(tuple(shape))


def is_method_of_tensor(value: object) -> bool:
    """Return whether a value is a method that was read from a tensor: ``x.mean``."""
    return isinstance(value, (BuiltinMethodType, MethodType)) and isinstance(value.__self__, torch.Tensor)


def is_index_dtype(dtype: torch.dtype) -> bool:
    """Return whether tensors of a dtype can be indices of an embedding."""
    return dtype in (torch.int32, torch.int64)


def each_of(value: Any, count: int) -> tuple[int, ...] | None:
    """Return a parameter of a layer for each spatial dimension; None if it is no number.

    A list that has fewer entries, which torch repeats, is repeated.
    """
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,)
    if not values or not all(type(each) is int for each in values):
        return None
    return values if len(values) == count else values[:1] * count
