"""Snapshot of the Python state that a model's code may change, and its changes."""

from __future__ import annotations

import re
import sys
from collections import OrderedDict, deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import torch
import torch.fx

from .. import module_tree
from ..locations.code_origin import is_installed, is_ours

_LARGEST = 1000
"""Number of items above which a container is not compared."""
_CONTAINERS = (list, dict, set, deque)
_SCALARS = (bool, int, float, complex, str, type(None))
_OWN = frozenset(vars(torch.nn.Module()))
"""Attributes that each module has: hooks, children, parameters."""
_OTHERS = {"torch", __name__.partition(".")[0], *sys.stdlib_module_names}
_MADE_BY_FX = re.compile(r"_(tensor|param)_constant\d+|_(torchbind|opaque)_obj\w*")


class _Missing:
    def __repr__(self) -> str:
        return "nothing"


MISSING = _Missing()
"""Stands for an attribute that did not exist."""


@dataclass(frozen=True)
class StateChange:
    """Changed attribute, global or contents of a container."""

    owner: Any
    """The module, object or Python module whose attribute it is; for contents, the container itself."""
    name: str
    """The attribute's name; "" for contents."""
    before: Any
    after: Any

    @property
    def keeps_proxy(self) -> bool:
        """Whether it stores a traced value now and did not before."""
        return holds_proxy(self.after) and not holds_proxy(self.before)


@dataclass(frozen=True)
class _Namespace:
    owner: Any
    live: dict[str, Any]
    copy: Mapping[str, Any]
    tracks_new: bool
    """Whether names that did not exist before count as changes."""


class StateSnapshot:
    """State of a model's modules, of their objects and containers, and, unless it is left out, of globals."""

    def __init__(self, root: torch.nn.Module, *, has_globals: bool = True) -> None:
        self._namespaces: list[_Namespace] = []
        self._contents: dict[int, tuple[Any, Any]] = {}
        self._objects: dict[int, Any] = {}
        for module in module_tree.modules(root):
            self._save_attributes(module, 2)
            if module._buffers and isinstance(module._buffers, dict):  # those of a scripted module are copies
                self._namespaces.append(_Namespace(module, module._buffers, dict(module._buffers), tracks_new=False))
        for scope in workspace_modules() if has_globals else ():
            held = {name: value for name, value in vars(scope).items() if _is_state(name, value)}
            self._namespaces.append(_Namespace(scope, vars(scope), held, tracks_new=False))
            for value in held.values():
                self._save(value, 1)

    def _save_attributes(self, owner: Any, depth: int) -> None:
        live = vars(owner)
        copy = dict(own_attributes(live))
        self._namespaces.append(_Namespace(owner, live, copy, tracks_new=True))
        for value in copy.values():
            self._save(value, depth)

    def _save(self, value: Any, depth: int) -> None:
        if isinstance(value, _SCALARS) or depth == 0 or id(value) in self._objects:
            return
        if isinstance(value, _CONTAINERS):
            self._objects[id(value)] = value
            contents = _contents_of(value)
            if len(contents) <= _LARGEST:
                self._contents[id(value)] = (value, contents)
                for item in contents.values() if isinstance(contents, dict) else contents:
                    self._save(item, depth - 1)
        elif is_plain_object(value):
            self._objects[id(value)] = value
            self._save_attributes(value, depth - 1)

    def changes(self) -> Iterator[StateChange]:
        """Yield what differs now."""
        for space in self._namespaces:
            for name, before in space.copy.items():
                after = space.live.get(name, MISSING)
                if after is not before and not _equal(before, after):
                    yield StateChange(space.owner, name, before, after)
            if space.tracks_new and len(space.live) > len(space.copy):
                for name, after in list(space.live.items()):
                    if name not in space.copy and name not in _OWN and not _MADE_BY_FX.fullmatch(name):
                        yield StateChange(space.owner, name, MISSING, after)
        for value, copy in self._contents.values():
            if not _same_contents(_contents_of(value), copy):
                yield StateChange(value, "", copy, value)

    def restore(self) -> None:
        """Restore the state, as far as assignments and contents of containers do."""
        for space in self._namespaces:
            for name in [
                name for name in space.live if space.tracks_new and name not in space.copy and name not in _OWN
            ]:
                del space.live[name]
            space.live.update(space.copy)
        for value, copy in self._contents.values():
            kind: Any = next(kind for kind in (OrderedDict, *_CONTAINERS) if isinstance(value, kind))
            kind.clear(value)
            (kind.extend if isinstance(value, (list, deque)) else kind.update)(value, copy)


def holds_proxy(value: object, depth: int = 3) -> bool:
    """Return whether ``value`` is a traced value or a container of such."""
    if isinstance(value, torch.fx.Proxy):
        return True
    if depth == 0 or not isinstance(value, (list, tuple, dict, set, deque)):
        return False
    contents = value if isinstance(value, tuple) else _contents_of(value)
    items = list(contents.values()) if isinstance(contents, dict) else list(contents)
    return len(items) <= _LARGEST and any(holds_proxy(item, depth - 1) for item in items)


def _contents_of(container: Any) -> Any:
    """Return a copy of a list, dict, set or deque as one of Python's own.

    A class of the user may override any method, so that it is read by those of Python's class.
    """
    if isinstance(container, dict):
        kind: Any = OrderedDict if isinstance(container, OrderedDict) else dict
        return dict(kind.items(container))
    kind = next(kind for kind in _CONTAINERS if isinstance(container, kind))
    return kind(kind.__iter__(container))


def _same_contents(value: Any, copy: Any) -> bool:
    if len(value) != len(copy):
        return False
    if isinstance(value, dict):
        return all(key in value and _equal(value[key], item) for key, item in copy.items())
    if isinstance(value, set):
        return bool(value == copy)
    return all(_equal(now, before) for now, before in zip(value, copy, strict=True))


def _equal(one: Any, other: Any) -> bool:
    """Return whether two values are equal, without running any of the user's code."""
    if one is other:
        return True
    return type(one) is type(other) and isinstance(one, (*_SCALARS, tuple)) and _plainly_equal(one, other)


def _plainly_equal(one: Any, other: Any) -> bool:
    if isinstance(one, tuple):
        return len(one) == len(other) and all(_equal(a, b) for a, b in zip(one, other, strict=True))
    return bool(one == other)


def is_plain_object(value: object) -> bool:
    """Return whether ``value`` is an instance of a Python class that holds state.

    Classes of torch, of this package and of the standard library do not count.
    """
    cls = type(value)
    if isinstance(value, (type, ModuleType, torch.nn.Module, torch.Tensor)) or callable(value):
        return False
    top = cls.__module__.partition(".")[0]
    return isinstance(getattr(value, "__dict__", None), dict) and top not in _OTHERS


def _is_state(name: str, value: object) -> bool:
    """Return whether a global is something that functions may store state in."""
    if name.startswith("__"):
        return False
    return isinstance(value, (*_SCALARS, *_CONTAINERS)) or is_plain_object(value)


def own_attributes(namespace: Mapping[str, Any]) -> list[tuple[str, Any]]:
    """Return the items of a module's ``__dict__`` that not every module has."""
    return [(name, value) for name, value in namespace.items() if name not in _OWN]


def workspace_modules() -> list[ModuleType]:
    """Return the loaded Python modules that are neither installed nor this worker's."""
    found = []
    for module in list(sys.modules.values()):
        # Only the namespace: attribute access would load modules that load lazily.
        file = getattr(module, "__dict__", {}).get("__file__")
        if isinstance(file, str) and not is_installed(file) and not is_ours(file):
            found.append(module)
    return found
