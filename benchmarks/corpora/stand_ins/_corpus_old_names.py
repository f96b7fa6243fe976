"""Names that Python, NumPy and torch have dropped since the files were written, given back for whoever imports this."""

from __future__ import annotations

import builtins
import collections
import collections.abc
import sys
from types import ModuleType

import numpy


def _give_back() -> None:
    for name in collections.abc.__all__:
        if not hasattr(collections, name):
            setattr(collections, name, getattr(collections.abc, name))
    numpy_names = {name: getattr(builtins, name) for name in ("bool", "int", "float", "complex", "object", "str")}
    numpy_names |= {"product": numpy.prod, "float_": numpy.float64, "Inf": numpy.inf, "NaN": numpy.nan}
    for name, value in numpy_names.items():
        # Not hasattr: NumPy warns of some of the names.
        numpy.__dict__.setdefault(name, value)
    sys.modules.setdefault("torch._six", _six())


def _six() -> ModuleType:
    """What torch had to run on Python 2 and 3."""
    module = ModuleType("torch._six")
    names = {"string_classes": (str, bytes), "int_classes": int, "container_abcs": collections.abc, "PY3": True}
    names |= {"inf": float("inf"), "nan": float("nan"), "PY37": True}
    vars(module).update(names)
    return module


_give_back()
