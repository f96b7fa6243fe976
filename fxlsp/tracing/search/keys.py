"""What is looked up in a dict, of which it has to be one of the keys, or of which a key is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from types import FrameType
from typing import Any

import torch

from .chameleon import Chameleon
from .guesses import Guess, Open, Path, Size, Tensor, Text, Trial, changed, leaves
from .names import name_of
from .sizes import number_of

_MOST = 4
"""Keys of one dict that are tried."""
_Dict = Mapping[Any, Any] | torch.nn.ModuleDict


def read(trial: Trial, error: BaseException | None, frame: FrameType | None, words: set[str]) -> Iterator[Trial]:
    """Trials in which an input or an argument is a key of a dict that the failing line names, or makes up one."""
    if not isinstance(error, KeyError) or not error.args or frame is None:
        return
    key = error.args[0]
    looked_up = [path for path, part in leaves(trial) if _is(part, path, key)]
    items = set(_items(frame, key))
    by_likelihood = sorted(looked_up, key=lambda path: (path[-1] not in items, name_of(path) not in words))
    for path in by_likelihood:
        for named in _dicts(frame, words):
            yield from (changed(trial, path, other) for other in islice(_keys(named, words), _MOST))
    if isinstance(key, str):
        for named in _dicts(frame, words):
            yield from _made_up(trial, key, named)


def _is(part: Guess, path: Path, key: Any) -> bool:
    """Whether a part of the trial is what was not found."""
    if isinstance(key, Chameleon):
        return path == key.fxlsp_use.path
    if isinstance(part, Tensor):
        return isinstance(key, torch.Tensor) and part.shape == tuple(key.shape)
    return part == (Size(key) if type(key) is int else Text(repr(key)))


def _items(frame: FrameType, key: Any) -> Iterator[str]:
    """Where in lists and tuples of the frame's the key stands: inputs that are of one shape are told apart by that."""
    for value in frame.f_locals.values():
        if isinstance(value, (list, tuple)):
            yield from (f"[{index}]" for index, item in enumerate(value) if item is key)


def _dicts(frame: FrameType, words: set[str]) -> Iterator[_Dict]:
    """The dicts among the attributes and variables that have one of these names."""
    owner = frame.f_locals.get("self")
    held: dict[str, Any] = {}
    if isinstance(owner, torch.nn.Module):
        for cls in reversed(type(owner).__mro__):
            held |= vars(cls)
        held |= {**vars(owner), **owner._modules}
    for named in (held, frame.f_locals, frame.f_globals):
        # The keys of a frame's variables are no set on Python 3.13.
        yield from (named[word] for word in sorted(words.intersection(named)) if isinstance(named[word], _DICTS))


_DICTS = (Mapping, torch.nn.ModuleDict)


def _keys(named: _Dict, words: set[str]) -> Iterator[Guess]:
    """Of a configuration's parts those first that have what the failing line reads from one."""
    for key in sorted(named, key=lambda key: not _has_any(named[key], words)):
        if isinstance(key, str):
            yield Text(repr(key))
        elif isinstance(key, int) and not isinstance(key, bool):
            # A chameleon too.
            yield Size(int(key))


def _has_any(value: Any, words: set[str]) -> bool:
    return not words.isdisjoint(value if isinstance(value, Mapping) else getattr(value, "__dict__", ()))


def _made_up(trial: Trial, key: str, named: _Dict) -> Iterator[Trial]:
    """Trials in which a number of the constructor's that the key has in it is the one of another key."""
    for path, part in leaves(trial):
        if path[0] != "made" or not isinstance(part, (Open, Size)):
            continue
        before, number, after = key.partition(str(number_of(part)))
        if number and before + after:
            known = (each[len(before) : len(each) - len(after)] for each in named if _is_like(each, before, after))
            yield from (changed(trial, path, Size(int(each))) for each in islice(filter(str.isdecimal, known), _MOST))


def _is_like(key: object, before: str, after: str) -> bool:
    return isinstance(key, str) and key.startswith(before) and key.endswith(after)
