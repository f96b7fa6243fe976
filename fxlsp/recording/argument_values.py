"""Arguments as JSON: enough to make them again, without values of tensors and without secrets.

None, truth values, numbers and strings are themselves. Anything else is an object with one key, its kind; the page
``docs/recording.md`` lists them. What cannot be made again is ``{"left_out": "a lambda"}``.
"""

from __future__ import annotations

import dataclasses
import enum
import functools
import math
import pathlib
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .constructor_calls import Rebound
from .references import RecordedFolder
from .tensors import describe_of_numpy, describe_of_torch
from .text_rules import reason_to_leave_out

Json = Any
DescribeModule = Callable[[object, "Describer"], Json]
"""Returns how a module was made."""

_MOST_ITEMS = 64
_MOST_VALUES = 512
"""Limit of values in one argument: a recording is small."""
_DEEPEST = 10
_LARGEST_INT = 2**63
_DICT_LIKE = frozenset({"EasyDict", "AttrDict", "Munch", "Box", "Dict", "AttributeDict", "ConfigDict", "OrderedDict"})
"""Names of dictionaries that are made from a dictionary with the same items."""
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, type)
_ITERATORS = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)


class LeftOutError(Exception):
    """A value is not recorded; the message is what it is."""


def left_out(reason: str) -> dict[str, str]:
    return {"left_out": reason}


def has_left_out(described: Json) -> bool:
    """Return whether any part of a described value is left out."""
    if isinstance(described, dict):
        return "left_out" in described or any(map(has_left_out, described.values()))
    return isinstance(described, list) and any(map(has_left_out, described))


class Describer:
    """Description of the arguments of one call."""

    def __init__(self, workspace: RecordedFolder, describe_module: DescribeModule) -> None:
        self.workspace = workspace
        self._describe_module = describe_module
        self._values = 0
        self._around: list[int] = []
        """Identities of the values around the present one: a value that contains itself cannot be written."""

    def arguments(self, args: Sequence[object], kwargs: Mapping[str, object]) -> dict[str, Json]:
        """Return ``{"args": [...], "kwargs": {...}}``."""
        return {
            "args": [self.value(each) for each in args],
            "kwargs": {name: self.value(each, name) for name, each in kwargs.items()},
        }

    def value(self, value: object, name: str | None = None) -> Json:
        """Return one value as JSON.

        Args:
            name: of the argument, field or key.
        """
        self._values += 1
        if self._values > _MOST_VALUES or len(self._around) >= _DEEPEST:
            return left_out("a large value")
        if id(value) in self._around:
            return left_out("a value that contains itself")
        self._around.append(id(value))
        try:
            return self._described(value, name)
        except LeftOutError as error:
            return left_out(str(error))
        finally:
            self._around.pop()

    def _described(self, value: object, name: str | None) -> Json:
        kind = type(value)
        if value is None or kind is bool:
            return value
        if kind is Rebound:
            raise LeftOutError("an argument that is assigned before super().__init__()")
        if issubclass(kind, enum.Enum):
            return self._member(value)
        if kind is int or kind is float or kind is complex:
            return _number(value)
        if kind is str:
            reason = reason_to_leave_out(str(value), name)
            return value if reason is None else left_out(reason)
        for describe in (self._container, self._torch_or_numpy, self._function, self._object):
            found = describe(value, kind)
            if found is not None:
                return found
        raise LeftOutError(f"a value of the type {kind.__name__}")

    # Containers of the standard library.

    def _container(self, value: Any, kind: type) -> Json:
        if kind in (list, tuple, set, frozenset):
            return {kind.__name__: self._items(value)}
        if kind is dict:
            return {"dict": self._pairs(value)}
        if kind is range:
            return {"range": [value.start, value.stop, value.step]}
        if kind is slice:
            return {"slice": [self.value(each) for each in (value.start, value.stop, value.step)]}
        if value is Ellipsis:
            return {"ellipsis": True}
        if issubclass(kind, pathlib.PurePath):
            reason = reason_to_leave_out(str(value))
            return {"path": value.as_posix()} if reason is None else left_out(reason)
        return None

    def _items(self, value: Any) -> list[Json]:
        if len(value) > _MOST_ITEMS:
            raise LeftOutError(f"{len(value)} items")
        return [self.value(each) for each in value]

    def _pairs(self, value: dict[Any, Any]) -> list[list[Json]]:
        # The items themselves, whatever a subclass returns.
        items = list(dict.items(value))
        if len(items) > _MOST_ITEMS:
            raise LeftOutError(f"{len(items)} items")
        return [[self.value(key), self.value(each, key if type(key) is str else None)] for key, each in items]

    # Tensors, modules, dtypes and arrays.

    def _torch_or_numpy(self, value: Any, kind: type) -> Json:
        torch = sys.modules.get("torch")
        if torch is not None and hasattr(torch, "nn"):
            if issubclass(kind, torch.nn.Module):
                return self._describe_module(value, self)
            found = describe_of_torch(torch, value, kind)
            if found is not None:
                return found
        numpy = sys.modules.get("numpy")
        return None if numpy is None else describe_of_numpy(numpy, value, kind)

    # Functions and classes.

    def _function(self, value: Any, kind: type) -> Json:
        if kind is functools.partial:
            given = self.arguments(value.args, value.keywords)
            return {"partial": {"function": self.value(value.func), **given}}
        if issubclass(kind, _FUNCTIONS):
            return {"name": self.reference(value)}
        if issubclass(kind, types.MethodType):
            raise LeftOutError("a method of an object")
        if issubclass(kind, _ITERATORS):
            raise LeftOutError("a generator")
        return None

    def reference(self, defined: Any) -> dict[str, Json]:
        """Return how a class or function is imported.

        Raises:
            LeftOutError: no import returns it.
        """
        found = self.workspace.reference(defined)
        if found is None:
            is_lambda = getattr(defined, "__name__", "") == "<lambda>"
            raise LeftOutError("a lambda" if is_lambda else "what is defined inside a function")
        return found

    def _member(self, value: Any) -> Json:
        name = value.__dict__.get("_name_")
        if not isinstance(name, str) or not name.isidentifier():
            raise LeftOutError("a combination of flags")
        return {"member": {"enum": self.reference(type(value)), "name": name}}

    # Objects of classes.

    def _object(self, value: Any, kind: type) -> Json:
        if kind.__module__ == "omegaconf.dictconfig" or kind.__module__ == "omegaconf.listconfig":
            container = sys.modules["omegaconf"].OmegaConf.to_container(value, resolve=False)
            return {"omegaconf": self.value(container)}
        if issubclass(kind, tuple):
            return self._tuple(value, kind)
        if issubclass(kind, dict):
            return self._dictionary(value, kind)
        if issubclass(kind, (list, set, frozenset, str, bytes, bytearray, int, float)):
            raise LeftOutError(f"a value of the type {kind.__name__}")
        return self._attributes(value, kind)

    def _tuple(self, value: Any, kind: type) -> Json:
        fields = kind.__dict__.get("_fields") or getattr(kind, "_fields", None)
        if not isinstance(fields, tuple) or _inherits(kind, "__new__", tuple):
            raise LeftOutError(f"a value of the type {kind.__name__}")
        named = {name: self.value(each, name) for name, each in zip(fields, tuple.__iter__(value), strict=True)}
        return {"call": {"class": self.reference(kind), "args": [], "kwargs": named}}

    def _dictionary(self, value: Any, kind: type) -> Json:
        is_plain = _inherits(kind, "__init__", dict) and not _attributes_of(value)
        if is_plain or kind.__name__ in _DICT_LIKE:
            args = [{"dict": self._pairs(value)}]
        elif kind.__name__ == "defaultdict" and kind.__module__ == "collections":
            args = [self.value(value.default_factory), {"dict": self._pairs(value)}]
        else:
            raise LeftOutError(f"a value of the type {kind.__name__}")
        return {"call": {"class": self.reference(kind), "args": args, "kwargs": {}}}

    def _attributes(self, value: Any, kind: type) -> Json:
        """Return an object by its attributes: by its constructor where that only assigns them, else without it."""
        reference = self.reference(kind)
        if dataclasses.is_dataclass(kind) and _is_made_by_fields(kind):
            values = {each.name: object.__getattribute__(value, each.name) for each in dataclasses.fields(kind)}
            if values.keys() >= _attributes_of(value).keys():
                return {"call": {"class": reference, "args": [], "kwargs": self._named(values)}}
        attributes = _attributes_of(value)
        if kind is types.SimpleNamespace or (kind.__module__, kind.__name__) == ("argparse", "Namespace"):
            return {"call": {"class": reference, "args": [], "kwargs": self._named(attributes)}}
        if not _is_plain(kind):
            raise LeftOutError(f"a value of the type {kind.__name__}")
        state = {"class": reference, "attributes": self._named(attributes)}
        return {"state": {**state, "setstate": True} if hasattr(kind, "__setstate__") else state}

    def _named(self, values: Mapping[str, object]) -> dict[str, Json]:
        if len(values) > _MOST_ITEMS * 4:
            raise LeftOutError(f"{len(values)} attributes")
        return {name: self.value(each, name) for name, each in values.items()}


def _number(value: Any) -> Json:
    if isinstance(value, complex):
        return {"complex": [_number(value.real), _number(value.imag)]}
    if isinstance(value, float) and not math.isfinite(value):
        return {"float": str(value)}
    if isinstance(value, int) and abs(value) >= _LARGEST_INT:
        raise LeftOutError("a large number")
    return value


def _attributes_of(value: object) -> dict[str, object]:
    """Return the instance's own attributes, without running a ``__getattr__`` of its class."""
    try:
        found = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return {}
    return dict(found) if isinstance(found, dict) else {}


def _is_made_by_fields(kind: type) -> bool:
    """Return whether a dataclass is made by its fields alone, which its constructor assigns as they are."""
    fields = dataclasses.fields(kind)
    # The constructor of a dataclass is compiled from a text.
    has_init = getattr(getattr(_method(kind, "__init__"), "__code__", None), "co_filename", "") == "<string>"
    pseudo = [each for each in kind.__dict__["__dataclass_fields__"].values() if each not in fields]
    has_init_only = any("InitVar" in str(each.type) for each in pseudo)
    return has_init and not has_init_only and all(each.init for each in fields) and not hasattr(kind, "__post_init__")


def _is_plain(kind: type) -> bool:
    """Return whether an object of a class is its attributes and nothing more, so that pickle would restore those.

    It gives them to ``__setstate__`` where the class has one.
    """
    bases = kind.__mro__[:-1]
    slots = any(each.__dict__.get("__slots__") for each in bases)
    special = ("__reduce__", "__reduce_ex__", "__getstate__", "__getnewargs__", "__getnewargs_ex__", "__new__")
    overrides = any(name in each.__dict__ for each in bases for name in special)
    return not slots and not overrides and kind.__dictoffset__ != 0 and kind.__module__ != "builtins"


def _method(kind: type, name: str) -> Any:
    return getattr(kind, name, None)


def _inherits(kind: type, name: str, base: type) -> bool:
    """Return whether a class has a method from one of the builtin classes."""
    return _method(kind, name) is getattr(base, name)
