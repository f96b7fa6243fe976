"""Arguments of every kind that models are made with, importable from a workspace as a user's would be."""

from __future__ import annotations

import argparse
import collections
import dataclasses
import enum
import functools
import pathlib
import types
from typing import Any, NamedTuple

import numpy
import torch
from torch import nn


class Mode(enum.Enum):
    FAST = "fast"
    SLOW = 2


class Level(enum.IntEnum):
    LOW = 1


class Sizes(NamedTuple):
    height: int
    width: int = 4


@dataclasses.dataclass
class Inner:
    depth: int = 2
    mode: Mode = Mode.FAST


@dataclasses.dataclass(frozen=True)
class Config:
    width: int
    inner: Inner
    names: tuple[str, ...] = ("a",)


@dataclasses.dataclass
class Derived:
    width: int
    double: int = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.double = self.width * 2


class Plain:
    rate = 0.5

    def __init__(self, width: int) -> None:
        self.width = width
        self.hidden = width * 4

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Plain) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


class Restored(Plain):
    """An object that pickle gives its attributes by a method of its own."""

    def __setstate__(self, state: dict[str, Any]) -> bool:
        vars(self).update(state, restored=True)
        return True


class Reduced(Restored):
    def __getstate__(self) -> dict[str, Any]:
        return {"width": self.width}


class Attributes(dict[str, Any]):
    __getattr__ = dict.__getitem__


class Counted(dict[str, Any]):
    def __init__(self, count: int) -> None:
        super().__init__(count=count)


class Slotted:
    __slots__ = ("width",)

    def __init__(self, width: int) -> None:
        self.width = width


class Outer:
    class Nested(nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return x


def activation(x: torch.Tensor) -> torch.Tensor:
    return x


MADE_AGAIN: dict[str, Any] = {
    "none": None,
    "truth": True,
    "a number": -3,
    "a float": 0.1,
    "infinity": float("-inf"),
    "a complex number": 1 - 2j,
    "a string": 'it\'s "quoted"\n',
    "a list": [1, [2.5, "x"], []],
    "a tuple of one": (3,),
    "an empty tuple": (),
    "sets": [{1}, set(), frozenset({2, 3})],
    "a dictionary": {"a": 1, 2: [None], (1, 2): {}},
    "a range": range(1, 9, 2),
    "a slice": slice(None, 3),
    "an ellipsis": ...,
    "a relative path": pathlib.Path("data/train"),
    "a member of an enumeration": Mode.SLOW,
    "a member that is a number": Level.LOW,
    "a named tuple": Sizes(3),
    "a dataclass": Config(3, Inner(mode=Mode.SLOW), ("b", "c")),
    "a dataclass that computes": Derived(3),
    "a configuration object": Plain(8),
    "an object in an object": types.SimpleNamespace(space=Plain(2), spaces=[Plain(3)]),
    "a namespace": types.SimpleNamespace(width=3, inner=types.SimpleNamespace(depth=[1])),
    "options of a command": argparse.Namespace(epochs=1, name="net"),
    "a dictionary with attributes": Attributes(width=3),
    "an ordered dictionary": collections.OrderedDict(b=1, a=2),
    "a dictionary with defaults": collections.defaultdict(list, {"a": [1]}),
    "a class": nn.ReLU,
    "a function": activation,
    "a function of torch": torch.relu,
    "a function of torch.nn": nn.functional.gelu,
    "a builtin function": len,
    "a partial": functools.partial(nn.LayerNorm, eps=1e-6),
    "a partial of a partial": functools.partial(functools.partial(pow, 2), 3),
    "a dtype": torch.bfloat16,
    "a device": torch.device("cpu"),
    "a size": torch.Size([2, 3]),
    "a memory format": torch.channels_last,
    "numpy numbers": [numpy.float32(0.5), numpy.int64(3), numpy.bool_(True)],
    "a numpy dtype": numpy.dtype("float32"),
}
"""Values that are equal to what is made of their description."""

LEFT_OUT: dict[str, Any] = {
    "a lambda": lambda x: x,
    "a generator": (each for each in "ab"),
    "a method": [].append,
    "an open file": open,
    "bytes": b"data",
    "a large number": 2**80,
    "a long string": "x" * 65,
    "a list of a thousand": list(range(1000)),
    "an object with slots": Slotted(3),
    "an object that pickle writes in a way of its own": Reduced(3),
    "a dictionary that is made otherwise": Counted(3),
    "an iterator": iter([1]),
    "a sparse tensor": torch.eye(2).to_sparse(),
    "an object": object(),
    "a module that was made before": nn.Linear(1, 1),
    "a random generator": torch.Generator(),
}
del LEFT_OUT["an open file"]
