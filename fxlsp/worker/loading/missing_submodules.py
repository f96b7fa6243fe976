"""Modules of packages that a program uses without importing them itself: something else that it imports does."""

from __future__ import annotations

import importlib
from types import ModuleType


def imports_submodule(error: BaseException) -> bool:
    """Whether an attribute of a package that was missed is a module of it, which is imported now.

    In a program that runs as a whole, a statement may have imported it that is not needed here.
    """
    if not isinstance(error, AttributeError) or not isinstance(error.obj, ModuleType):
        return False
    if error.name is None or not hasattr(error.obj, "__path__") or hasattr(error.obj, error.name):
        return False
    try:
        importlib.import_module(f"{error.obj.__name__}.{error.name}")
    except Exception:
        # Whatever it raises: the first error is the one to tell.
        return False
    return hasattr(error.obj, error.name)
