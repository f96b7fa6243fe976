"""Functions that run around the import of modules which the program has not imported yet."""

from __future__ import annotations

import importlib.util
import sys
import threading
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

Around = Callable[[], AbstractContextManager[object]]


class ImportWatch:
    """Finder that enters a context while a module executes, and changes nothing else about its import.

    It leaves ``sys.meta_path`` as soon as all modules that it waits for were imported.
    """

    def __init__(self, around: Mapping[str, Around]) -> None:
        self._around = {name: each for name, each in around.items() if name not in sys.modules}
        self._searching: set[int] = set()
        """Threads in which the other finders are being asked."""

    def start(self) -> None:
        if self._around:
            sys.meta_path.insert(0, self)

    def stop(self) -> None:
        self._around.clear()
        if self in sys.meta_path:
            sys.meta_path.remove(self)

    def find_spec(self, name: str, path: Any = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """Return the spec that the other finders have for a module that is waited for."""
        thread = threading.get_ident()
        if name not in self._around or thread in self._searching:
            return None
        self._searching.add(thread)
        try:
            spec = importlib.util.find_spec(name)
        finally:
            self._searching.discard(thread)
        around = self._around.pop(name, None)
        if not self._around:
            self.stop()
        if spec is not None and spec.loader is not None and around is not None:
            _surround(spec.loader, around)
        return spec


def _surround(loader: Any, around: Around) -> None:
    """Have a loader execute its module within a context, once."""
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del loader.exec_module
        with around():
            execute(module)

    try:
        loader.exec_module = exec_module
    except AttributeError:
        # A loader of another kind: the module is imported without the context.
        return
