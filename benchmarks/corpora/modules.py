"""Contents of installed modules.

Many names that files take from torch and NumPy no longer exist.
"""

from __future__ import annotations

import importlib
import warnings
from collections.abc import Sequence
from functools import cache
from types import ModuleType

import torch

from benchmarks.corpora.stand_ins._corpus_dropped import DROPPED

_MISSING = "missing"
_UNKNOWN = "unknown"


def holds(module: str, names: Sequence[str]) -> bool:
    """Return whether ``module.first.second`` exists, as far as it belongs to modules.

    True where that is unknown.
    """
    if module in DROPPED and (not names or names[0] in DROPPED[module]):
        return True
    found = _module(module)
    if isinstance(found, str) or not names:
        return found != _MISSING
    if _has(found, names[0]):
        value = _value(found, names[0])
        return not isinstance(value, ModuleType) or holds(value.__name__, names[1:])
    inner = f"{module}.{names[0]}"
    return hasattr(found, "__path__") and holds(inner, names[1:])


@cache
def _module(path: str) -> ModuleType | str:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return importlib.import_module(path)
    except ModuleNotFoundError as error:
        # A module that exists may itself import what is not installed.
        return _MISSING if error.name and f"{path}.".startswith(f"{error.name}.") else _UNKNOWN
    except Exception:
        # Modules may raise anything while they are imported.
        return _UNKNOWN


def _value(module: ModuleType, name: str) -> object:
    with warnings.catch_warnings():
        # NumPy warns of names that it is about to remove.
        warnings.simplefilter("ignore")
        return getattr(module, name, None)


def _has(module: ModuleType, name: str) -> bool:
    # The stand-in for paritybench's helper adds to each of the two the names of the other.
    functional = (torch.functional, torch.nn.functional)
    places = functional if module in functional else (module,)
    return any(name in vars(each) or _value(each, name) is not None for each in places)
