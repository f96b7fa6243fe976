"""What modules that are installed hold: many names that files take from torch and NumPy are no longer there."""

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
    """Whether ``module.first.second`` is there, of what belongs to modules; True where nobody can tell."""
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
        # One that is there may itself import what is not installed.
        return _MISSING if error.name and f"{path}.".startswith(f"{error.name}.") else _UNKNOWN
    except Exception:
        # What modules raise while they are imported may be anything.
        return _UNKNOWN


def _value(module: ModuleType, name: str) -> object:
    with warnings.catch_warnings():
        # NumPy warns of names that it is about to drop.
        warnings.simplefilter("ignore")
        return getattr(module, name, None)


def _has(module: ModuleType, name: str) -> bool:
    # The stand-in for paritybench's helper gives each of the two the names of the other.
    functional = (torch.functional, torch.nn.functional)
    places = functional if module in functional else (module,)
    return any(name in vars(each) or _value(each, name) is not None for each in places)
