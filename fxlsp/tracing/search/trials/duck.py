"""A value that acts as whatever it is used as, and remembers that: it replaces an argument of unknown type in a run."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
import torch.fx

from ...isolation.torch_private.modules import repeated_length
from ...model.locations.bytecode.instructions import instruction_of
from ...model.locations.bytecode.opcodes import indexes, unpacked_count, unpacked_from_result
from .values import RESULT, Guess, Open, Path

_UNKNOWN_LENGTH = 3
_LONGEST = 64
"""A loop that reads one item after the other must come to an end."""
_DEEPEST = 4
"""No list has lists in it that have lists in them, and so on, so many times."""
_WORDS = frozenset(dir(str)) - frozenset(dir(list)) - frozenset(dir(dict)) - {"index", "count"}
"""Methods that only strings have."""
_SIZE = re.compile(r"(get_)?(.*_)?(size|dim|len|length|width|count|channels|num)|(get_)?(num|n)_\w+")
"""Methods that return a number."""
_LISTING = frozenset({"children", "named_children", "modules", "named_modules", "parameters", "named_parameters"})
"""Methods that only modules have, and that list what is in one."""
_MAPPING = frozenset({"get", "items", "keys", "values", "pop", "update", "setdefault"})

PartMaker = Callable[[str, str], tuple[Guess, Any]]
"""From the key and the name of a part to what it is guessed to be, and the value for that."""


@dataclass
class DuckUse:
    """What a duck value was used as."""

    open: Open
    path: Path
    attributes: dict[str, Guess] = field(default_factory=dict)
    """What was handed out, by name."""
    entries: dict[str | int, Guess] = field(default_factory=dict)
    """The same by key."""
    length: int | None = None
    """As how many values it was unpacked, or iterated over."""
    calls: list[tuple[int, tuple[str, ...]]] = field(default_factory=list)
    """Calls without a tensor among the arguments: how many came by position, and the names of the others."""
    ran: int = 0
    """With how many arguments it was called at most, where a tensor was among them."""
    by_name: bool = False
    """Whether none of these came by position."""
    unpacked: int = 0
    """Into how many names what such a call returned was unpacked at once."""
    maybe_makes: bool = False
    """Whether code that takes a value or what makes one, and asks which it is, called it without arguments."""
    wraps: bool = False
    """Whether it was called with a module alone, as what changes one or puts it into another is."""
    lists_modules: bool = False
    """Whether it was asked which modules it has, so that it is a module itself."""
    lists_parameters: bool = False
    """Whether it was asked for its parameters, of which the first one tells the device."""
    compared: list[str | int] = field(default_factory=list)
    """Strings and numbers it was compared with."""
    words: bool = False
    """Whether a method of strings was called."""
    mapping: bool = False
    """Whether a method of dicts was called, or it was searched for a string."""
    written: dict[Any, Any] = field(default_factory=dict)
    """What the code itself stored under keys."""
    result: Guess | None = None
    """What was returned by a call without arguments that asks for a size."""
    values: dict[str, Any] = field(default_factory=dict)
    """The parts that were handed out, by key."""

    def note_comparison(self, other: object) -> None:
        if isinstance(other, (str, int)) and not isinstance(other, (bool, DuckValue)) and other not in self.compared:
            self.compared.append(other)

    def known_length(self) -> int:
        if self.length is None:
            read = [key + 1 for key in self.entries if isinstance(key, int)]
            # Who reads the first and the second most likely knows that there are two.
            self.length = len(read) if len(read) > 1 and len(read) == max(read) else max([_UNKNOWN_LENGTH, *read])
        return self.length


class DuckValue(int):
    """An int with attributes, items and a call. Each has a class of its own, whose name error messages show."""

    fxlsp_use: DuckUse
    fxlsp_part: PartMaker

    def __getattr__(self, name: str) -> Any:
        use = self.fxlsp_use
        if name.startswith("__"):
            raise AttributeError(name)
        if name in _WORDS:
            use.words = True
            return _word_method(self, name)
        if name in _LISTING:
            use.lists_modules = True
            use.lists_parameters = use.lists_parameters or "parameters" in name
            return getattr(torch.nn.Sequential(torch.nn.PReLU()), name)
        if name in _MAPPING:
            use.mapping = True
            return _mapping_method(self, name)
        if name not in use.attributes:
            use.attributes[name] = _handed_out(self, f".{name}", name)
        return use.values[f".{name}"]

    def __getitem__(self, key: Any) -> Any:
        use = self.fxlsp_use
        if isinstance(key, slice):
            return [self[index] for index in range(*key.indices(use.known_length()))]
        if isinstance(key, int):
            if self._is_deep():
                raise TypeError(f"too many dimensions {type(self).__name__!r}")
            key = int(key)
            key += use.known_length() if key < 0 else 0
            if key >= _LONGEST:
                raise IndexError(key)
        elif not isinstance(key, str):
            raise TypeError(f"{type(self).__name__} has no item {key!r}")
        if key in use.written:
            return use.written[key]
        if key not in use.entries:
            name = key if isinstance(key, str) else _name_of_item(use, key)
            use.entries[key] = _handed_out(self, f"[{key!r}]", name)
        return use.values[f"[{key!r}]"]

    def _is_deep(self) -> bool:
        """Return whether it is an item of an item, and so on, which would never end."""
        innermost = self.fxlsp_use.path[-_DEEPEST:]
        return len(innermost) == _DEEPEST and all(key[:1] == "[" and key[1:-1].isdecimal() for key in innermost)

    def __setitem__(self, key: Any, value: Any) -> None:
        self.fxlsp_use.mapping = self.fxlsp_use.mapping or isinstance(key, str)
        self.fxlsp_use.written[key] = value

    def __iter__(self) -> Iterator[Any]:
        frame = sys._getframe(1)
        repeated = repeated_length(frame)
        if repeated is not None:
            return iter([int(self)] * repeated)
        self.fxlsp_use.length = unpacked_count(instruction_of(frame)) or self.fxlsp_use.known_length()
        return iter([self[index] for index in range(self.fxlsp_use.length)])

    def __len__(self) -> int:
        # ``tuple(x)`` asks for a length too.
        frame = sys._getframe(1)
        # A tensor asks each index whether it is a sequence.
        if indexes(instruction_of(frame)):
            raise TypeError(f"object of type {type(self).__name__!r} has no len()")
        return repeated_length(frame) or self.fxlsp_use.known_length()

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given = list(_tensors_in((*args, *kwargs.values())))
        if given:
            self.fxlsp_use.ran = max(self.fxlsp_use.ran, len(args) + len(kwargs))
            self.fxlsp_use.by_name = self.fxlsp_use.by_name or not args
            count = unpacked_from_result(instruction_of(sys._getframe(1)))
            self.fxlsp_use.unpacked = self.fxlsp_use.unpacked or count
            return (given[0],) * count if count else given[0]
        if not args and not kwargs and "callable" in sys._getframe(1).f_code.co_names:
            self.fxlsp_use.maybe_makes = True
            return self
        self.fxlsp_use.calls.append((len(args), tuple(kwargs)))
        if any(key == RESULT for key, _ in self.fxlsp_use.open.known):
            if RESULT not in self.fxlsp_use.values:
                _handed_out(self, RESULT, self.fxlsp_use.open.name)
            return self.fxlsp_use.values[RESULT]
        if not args and not kwargs and not self.fxlsp_use.open.is_input and _SIZE.fullmatch(self.fxlsp_use.open.name):
            name = self.fxlsp_use.open.name.removeprefix("get_")
            self.fxlsp_use.result = self.fxlsp_use.result or _handed_out(self, RESULT, name)
            return self.fxlsp_use.values[RESULT]
        if len(args) == 1 and isinstance(args[0], torch.nn.Module):
            self.fxlsp_use.wraps = True
            return args[0]
        return torch.nn.Identity()

    def __eq__(self, other: object) -> bool:
        self.fxlsp_use.note_comparison(other)
        return int(self) == other if isinstance(other, (int, float)) else False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return int.__hash__(self)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            self.fxlsp_use.mapping = True
        else:
            self.fxlsp_use.known_length()
        return False

    def __bool__(self) -> bool:
        return int(self) != 0

    def __deepcopy__(self, memo: object) -> DuckValue:
        return self

    def __copy__(self) -> DuckValue:
        return self


def duck_value(guess: Open, path: Path, part: PartMaker) -> DuckValue:
    """Return a duck value for ``guess``, the part at ``path``."""
    members = {"fxlsp_use": DuckUse(guess, path), "fxlsp_part": staticmethod(part)}
    made: DuckValue = type(class_name(path), (DuckValue,), members)(guess.size)
    return made


def class_name(path: Path) -> str:
    """Return the name of a duck value's class, as error messages show it."""
    return "fxlsp_unknown_" + re.sub(r"\W+", "_", "_".join(path))


def _tensors_in(values: Iterable[Any]) -> Iterator[Any]:
    """Yield the tensors among arguments, those in tuples and dicts too."""
    for value in values:
        if isinstance(value, (torch.Tensor, torch.fx.Proxy)):
            yield value
        elif isinstance(value, (tuple, list)):
            yield from _tensors_in(value)
        elif isinstance(value, dict):
            yield from _tensors_in(value.values())


def _handed_out(owner: DuckValue, key: str, name: str) -> Guess:
    guess, owner.fxlsp_use.values[key] = owner.fxlsp_part(key, name)
    return guess


def _word_method(self: DuckValue, name: str) -> Callable[..., Any]:
    def method(*args: Any) -> Any:
        if name in ("startswith", "endswith"):
            for arg in args:
                self.fxlsp_use.note_comparison(arg)
            return False
        return [self] if "split" in name else False if name.startswith("is") else self

    return method


def _mapping_method(self: DuckValue, name: str) -> Callable[..., Any]:
    def method(*args: Any, **kwargs: Any) -> Any:
        if name in ("get", "pop", "setdefault") and args:
            return self[args[0]] if len(args) == 1 or args[1] is None else args[1]
        return None if name == "update" else []

    return method


_SHAPE = re.compile(r"(.*_)?(img|image|input|in|obs(ervation)?|state|data|sample|feature)_?(shape|dims)")
"""Shapes of one sample: channels first."""


def _name_of_item(use: DuckUse, index: int) -> str:
    """Return what an element of a list is called: channels, height and width in the shape of an image."""
    if _SHAPE.fullmatch(use.open.name) and use.known_length() == _UNKNOWN_LENGTH:
        return ("n_channels", "height", "width")[index]
    return _singular(use.open.name)


def _singular(name: str) -> str:
    """Return ``channel`` for ``channels``: what an element of it is called."""
    return name[:-1] if len(name) > 2 and name.endswith("s") and not name.endswith("ss") else name
