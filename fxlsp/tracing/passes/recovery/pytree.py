"""Nested Python containers, leaf by leaf, and which leaves are proxies."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Callable
from typing import Any

import torch
import torch.fx


def mapped(tree: Any, change: Callable[[Any], Any]) -> Any:
    """Return ``tree`` with ``change`` applied to each leaf.

    Tuples, lists, dicts, slices and dataclasses of any class are traversed.
    """
    kind = type(tree)
    if kind in (list, tuple, torch.Size):
        items = [mapped(item, change) for item in tree]
        return items if kind is list else tuple(items)
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        # Not by its constructor, which may ask its parts: that of a packed sequence asks for their device.
        return tuple.__new__(kind, [mapped(item, change) for item in tree])
    if issubclass(kind, dict):
        return _mapped_items(tree, change)
    if kind is slice:
        return slice(mapped(tree.start, change), mapped(tree.stop, change), mapped(tree.step, change))
    if dataclasses.is_dataclass(kind):
        return _mapped_fields(tree, change)
    return change(tree)


def _mapped_items(tree: Any, change: Callable[[Any], Any]) -> Any:
    """Return a changed dict of the same class, without calling its ``__setitem__``.

    If it is a dataclass too, its fields are changed as well.
    """
    changed = {key: mapped(item, change) for key, item in dict.items(tree)}
    if type(tree) is dict:
        return changed
    if all(item is dict.__getitem__(tree, key) for key, item in changed.items()):
        return tree
    copied = copy.copy(tree)
    for key, item in changed.items():
        dict.__setitem__(copied, key, item)
    return _mapped_fields(copied, change) if dataclasses.is_dataclass(tree) else copied


def _mapped_fields(tree: Any, change: Callable[[Any], Any]) -> Any:
    changed = {field.name: mapped(getattr(tree, field.name), change) for field in dataclasses.fields(tree)}
    if all(changed[name] is getattr(tree, name) for name in changed):
        return tree
    copied = copy.copy(tree)
    for name, value in changed.items():
        object.__setattr__(copied, name, value)
    return copied


def leaves(tree: Any) -> list[Any]:
    """Return the leaves of ``tree`` in order."""
    found: list[Any] = []

    def note(leaf: Any) -> Any:
        found.append(leaf)
        return leaf

    mapped(tree, note)
    return found


def is_proxy(value: object) -> bool:
    """Return whether a value is a proxy by ``type()``, whatever its ``__class__``."""
    return issubclass(type(value), torch.fx.Proxy)
