"""Names that Python, NumPy and torch have removed since the files were written.

By module, with the objects that they referred to.
"""

from __future__ import annotations

import builtins
import collections
import collections.abc
from collections.abc import Mapping
from typing import Any

import numpy

_OF_PYTHON = {name: getattr(collections.abc, name) for name in collections.abc.__all__}
_OF_NUMPY = {name: getattr(builtins, name) for name in ("bool", "int", "float", "complex", "object", "str")}
DROPPED: Mapping[str, Mapping[str, Any]] = {
    "collections": {name: value for name, value in _OF_PYTHON.items() if name not in vars(collections)},
    "numpy": _OF_NUMPY | {"product": numpy.prod, "float_": numpy.float64, "Inf": numpy.inf, "NaN": numpy.nan},
    # The module with which torch supported Python 2 and 3.
    "torch._six": {
        "string_classes": (str, bytes),
        "int_classes": int,
        "container_abcs": collections.abc,
        "PY3": True,
        "PY37": True,
        "inf": float("inf"),
        "nan": float("nan"),
    },
}
