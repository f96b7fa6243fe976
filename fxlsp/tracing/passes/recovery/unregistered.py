"""Modules called without being registered under the root, and paths to show them."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from itertools import chain, count
from typing import Any

import torch


class UnregisteredPaths:
    """Paths of the unregistered modules of one pass."""

    def __init__(self, by_path: dict[str, torch.nn.Module]) -> None:
        """``by_path`` is filled when modules are met."""
        self._by_path = by_path
        self._paths: dict[torch.nn.Module, str] = {}

    def __contains__(self, module: torch.nn.Module) -> bool:
        return module in self._paths

    def path_of(self, module: torch.nn.Module) -> str:
        """Return the path that a module is shown under."""
        return self._paths[module]

    def add(self, module: torch.nn.Module, caller: torch.nn.Module, caller_path: str) -> None:
        """Choose a path for a module that is met for the first time."""
        path = _free_path(_likely_path(module, caller, caller_path), self._by_path)
        self._by_path[path] = module
        self._paths[module] = path


def _likely_path(module: torch.nn.Module, caller: torch.nn.Module, caller_path: str) -> str:
    """Return the path that ``module`` would have if its container were registered.

    ``layers.0`` for an item of ``self.layers = [...]``; else its class in angle brackets.
    """
    prefix = f"{caller_path}." if caller_path else ""
    for name, value in vars(caller).items():
        if not name.startswith("_"):
            for inner, found in _modules_in(value):
                if found is module:
                    return prefix + ".".join((name, *inner))
    return f"{prefix}<{type(module).__name__}>"


def _free_path(path: str, taken: Container[str]) -> str:
    """Return ``path``, numbered if it is taken: ``<Linear 2>``, ``layers.0 2``."""
    numbered = (f"{path[:-1]} {number}>" if path.endswith(">") else f"{path} {number}" for number in count(2))
    return next(shown for shown in chain((path,), numbered) if shown not in taken)


def _modules_in(value: Any, depth: int = 2) -> Iterator[tuple[tuple[str, ...], torch.nn.Module]]:
    if isinstance(value, torch.nn.Module):
        yield (), value
    elif depth:
        items: Iterator[tuple[Any, Any]] = iter(())
        if isinstance(value, Mapping):
            items = iter(value.items())
        elif type(value) in (list, tuple):
            items = enumerate(value)
        for key, item in items:
            for inner, found in _modules_in(item, depth - 1):
                yield (str(key), *inner), found
