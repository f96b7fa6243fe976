"""Restores names that Python, NumPy and torch have removed.

They were removed after the files were written.
"""

from __future__ import annotations

import importlib
import sys
from types import ModuleType

from _corpus_dropped import DROPPED  # type: ignore[import-not-found] # beside this file, wherever that is copied to


def _give_back() -> None:
    sys.modules.setdefault("torch._six", ModuleType("torch._six"))
    for module, names in DROPPED.items():
        for name, value in names.items():
            # Not hasattr: NumPy warns of some of the names.
            vars(importlib.import_module(module)).setdefault(name, value)


_give_back()
