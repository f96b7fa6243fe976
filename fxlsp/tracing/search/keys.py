"""Inputs that are looked up in a dict, of which they have to be one of the keys."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from types import FrameType
from typing import Any

import torch

from .guesses import Guess, Size, Tensor, Text, Trial, changed, leaves
from .names import name_of

_MOST = 4
"""Keys of one dict that are tried."""


def read(trial: Trial, error: BaseException | None, frame: FrameType | None, words: set[str]) -> Iterator[Trial]:
    """Trials in which an input is a key of a dict that the failing line names, as it most likely names the input."""
    if not isinstance(error, KeyError) or not error.args or frame is None:
        return
    key = error.args[0]
    looked_up = [path for path, part in leaves(trial) if path[0] == "fed" and _is(part, key)]
    items = set(_items(frame, key))
    for path in sorted(looked_up, key=lambda path: (path[-1] not in items, name_of(path) not in words)):
        for named in _dicts(frame, words):
            yield from (changed(trial, path, other) for other in islice(_keys(named, words), _MOST))


def _is(part: Guess, key: Any) -> bool:
    """Whether a part of the trial is what was not found."""
    if isinstance(part, Tensor):
        return isinstance(key, torch.Tensor) and part.shape == tuple(key.shape)
    return part == (Size(key) if type(key) is int else Text(repr(key)))


def _items(frame: FrameType, key: Any) -> Iterator[str]:
    """Where in lists and tuples of the frame's the key stands: inputs that are of one shape are told apart by that."""
    for value in frame.f_locals.values():
        if isinstance(value, (list, tuple)):
            yield from (f"[{index}]" for index, item in enumerate(value) if item is key)


def _dicts(frame: FrameType, words: set[str]) -> Iterator[Mapping[Any, Any] | torch.nn.ModuleDict]:
    owner = frame.f_locals.get("self")
    held = {**vars(owner), **owner._modules} if isinstance(owner, torch.nn.Module) else {}
    for named in (held, frame.f_locals, frame.f_globals):
        # The keys of a frame's variables are no set on Python 3.13.
        yield from (named[word] for word in sorted(words.intersection(named)) if isinstance(named[word], _DICTS))


_DICTS = (Mapping, torch.nn.ModuleDict)


def _keys(named: Mapping[Any, Any] | torch.nn.ModuleDict, words: set[str]) -> Iterator[Guess]:
    """Of a configuration's parts those first that have what the failing line reads from one."""
    for key in sorted(named, key=lambda key: not _has_any(named[key], words)):
        if isinstance(key, str):
            yield Text(repr(key))
        elif isinstance(key, int) and not isinstance(key, bool):
            # A chameleon too.
            yield Size(int(key))


def _has_any(value: Any, words: set[str]) -> bool:
    return not words.isdisjoint(value if isinstance(value, Mapping) else getattr(value, "__dict__", ()))
