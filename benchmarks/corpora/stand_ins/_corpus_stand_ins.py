"""Stand-ins for packages that are not installed.

Every name imported from them exists, and does nothing. Names that begin with a capital are classes without behaviour,
so that a model may inherit from them and call ``isinstance``; all others are mocks. Submodules are stand-ins too.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Sequence
from types import ModuleType
from typing import Any
from unittest.mock import MagicMock


class StandInModule(ModuleType):
    """A module that has every name."""

    def __getattr__(self, name: str) -> Any:
        if name == "__version__":
            return "99.0.0"
        if name.startswith("__"):
            raise AttributeError(name)
        made: Any = _empty_class(self.__name__, name) if name[0].isupper() else MagicMock(name=name)
        setattr(self, name, made)
        return made


def _empty_class(module: str, name: str) -> type:
    def initialise(self: object, *args: object, **kwargs: object) -> None:
        """Accept any arguments, as the real constructor may."""

    return type(name, (), {"__module__": module, "__init__": initialise})


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finder of every submodule of the packages with stand-ins."""

    def __init__(self) -> None:
        self.packages: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        package, dot, _ = fullname.partition(".")
        known = bool(dot) and package in self.packages
        return importlib.machinery.ModuleSpec(fullname, self, is_package=True) if known else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return StandInModule(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Do nothing: there is nothing to run."""


_finder = _Finder()


def stand_in(name: str) -> None:
    """Make the package ``name``, which is being imported, a stand-in."""
    if _finder not in sys.meta_path:
        sys.meta_path.append(_finder)
    _finder.packages.add(name)
    sys.modules[name].__class__ = StandInModule
