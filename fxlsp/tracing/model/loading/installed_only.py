"""Import of installed packages alone, for the process that must not run code of the workspace.

Which packages a trace imports is what the model's code made the worker report, and an installed package may import a
module of the workspace where that is on ``sys.path``.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType

from ..locations.code_origin import is_installed


class NotInstalledError(ImportError):
    """A module lies neither in the standard library nor among the installed packages."""


@contextmanager
def only_installed_modules() -> Iterator[None]:
    """Refuse, inside this context, to import modules that are not installed."""
    finder = _InstalledOnly()
    sys.meta_path.insert(0, finder)
    try:
        yield
    finally:
        sys.meta_path.remove(finder)


class _InstalledOnly(importlib.abc.MetaPathFinder):
    """Finder that asks all others, and refuses what they find elsewhere."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        others = [finder for finder in sys.meta_path if finder is not self and hasattr(finder, "find_spec")]
        found = (finder.find_spec(fullname, path, target) for finder in others)
        spec = next((spec for spec in found if spec is not None), None)
        if spec is not None and not _is_allowed(spec):
            raise NotInstalledError(f"{fullname} is not an installed package", name=fullname)
        return spec


def _is_allowed(spec: importlib.machinery.ModuleSpec) -> bool:
    if spec.origin in ("built-in", "frozen"):
        return True
    places = [spec.origin] if spec.has_location and spec.origin else [*(spec.submodule_search_locations or ())]
    return bool(places) and all(is_installed(place) for place in places)
