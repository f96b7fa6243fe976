"""Conversion between dataclasses and JSON, derived from their fields.

A dataclass that is a :class:`JsonObject` is an object with a key for each field, in the order of the fields. Tuples are
arrays, other such dataclasses are objects, and numbers, strings, None and dictionaries remain as they are. The metadata
of a field can change that: :data:`INLINE` or :data:`UNLESS_DEFAULT`.

Unknown keys are ignored, and the keys of fields with a default may be absent, so that either side may be slightly newer
than the other.

The functions of a class are generated on first use, as :mod:`dataclasses` generates ``__init__``: a report holds
thousands of objects, and generated functions are as fast as functions written by hand.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Mapping
from dataclasses import MISSING, Field, fields
from typing import Any, Literal, NamedTuple, TypeVar, Union, get_args, get_origin, get_type_hints

T = TypeVar("T", bound="JsonObject")

INLINE = {"json": "inline"}
"""Metadata of a field whose keys are merged into those of the enclosing object."""
UNLESS_DEFAULT = {"json": "unless default"}
"""Metadata of a field that is omitted if it has its default value."""


class JsonObject:
    """Base class of dataclasses that can be converted to and from JSON."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Return this object as a JSON object."""
        return fields_to_json(self)

    @classmethod
    def from_json(cls: type[T], data: Any) -> T:
        """Return the object that :meth:`to_json` wrote.

        Raises:
            KeyError, TypeError, AttributeError: ``data`` lacks a field, or a field has the wrong type.
        """
        return fields_from_json(cls, data)


def fields_to_json(value: JsonObject) -> dict[str, Any]:
    """Return the JSON of an object's fields, for a class with its own ``to_json``."""
    return json_functions(type(value)).write(value)


def fields_from_json(cls: type[T], data: Any) -> T:
    """Return an object from the JSON of its fields.

    For classes with their own ``from_json``.

    Raises:
        KeyError, TypeError, AttributeError: as :meth:`JsonObject.from_json`.
    """
    found: T = json_functions(cls).read(data)
    return found


class JsonFunctions(NamedTuple):
    """Pair of functions that write and read objects of one class."""

    write: Callable[[Any], dict[str, Any]]
    read: Callable[[Any], Any]


_generated: dict[type[JsonObject], JsonFunctions] = {}


def json_functions(cls: type[JsonObject]) -> JsonFunctions:
    """Return the functions for the fields of a class, generated on first use.

    Raises:
        TypeError: there is no rule for the type of a field.
    """
    known = _generated.get(cls)
    if known is None:
        known = _generated[cls] = _generate(cls)
    return known


def _generate(cls: type[JsonObject]) -> JsonFunctions:
    source = _Source(cls)
    hints = get_type_hints(cls)
    for field in fields(cls):  # type: ignore[arg-type]  # every subclass is a dataclass
        source.add(field, hints[field.name])
    namespace = source.namespace
    exec(source.text, namespace)
    return JsonFunctions(namespace["write"], namespace["read"])


class _Source:
    """Source text of the functions for one class, and its global names."""

    def __init__(self, cls: type[JsonObject]) -> None:
        self.namespace: dict[str, Any] = {"cls": cls}
        self._written: list[str] = []
        self._read: list[str] = []
        self._absent: list[str] = []

    @property
    def text(self) -> str:
        """Source of both functions.

        Reading is repeated with the defaults of absent keys only after a KeyError, which is rare.
        """
        written, read, absent = (", ".join(entries) for entries in (self._written, self._read, self._absent))
        return (
            f"def write(value):\n    return {{{written}}}\n"
            f"def read(data):\n    try:\n        return cls({read})\n    except KeyError:\n        pass\n"
            f"    data = {{**{{{absent}}}, **data}}\n    return cls({read})\n"
        )

    def add(self, field: Field[Any], hint: Any) -> None:
        """Add the code that writes and reads one field."""
        value, key = f"value.{field.name}", repr(field.name)
        if field.metadata == INLINE:
            written, read = self._converted(hint, value, "data")
            entry = f"**{written}"
        else:
            written, read = self._converted(hint, value, f"data[{key}]")
            entry = f"{key}: {written}"
        if field.default is not MISSING or field.default_factory is not MISSING:
            made = field.default is MISSING
            default = f"{self._named(field.default_factory)}()" if made else self._named(field.default)
            self._absent.append(f"{key}: {self._converted(hint, default, '')[0]}")
            if field.metadata == UNLESS_DEFAULT:
                entry = f"**({{}} if {value} == {default} else {{{entry}}})"
        self._written.append(entry)
        self._read.append(read)

    def _converted(self, hint: Any, value: str, data: str) -> tuple[str, str]:
        """Return the expression that converts ``value`` to JSON, and ``data`` back."""
        if _is_plain(hint):
            return value, data
        origin, arguments = get_origin(hint), get_args(hint)
        if _is_union(hint) and len(arguments) == 2 and arguments[1] is types.NoneType:
            written, read = self._converted(arguments[0], value, "found")
            return f"None if {value} is None else {written}", f"None if (found := {data}) is None else {read}"
        if origin is tuple and arguments[1:] == (...,):
            if _is_plain(arguments[0]):
                return f"list({value})", f"tuple({data})"
            written, read = self._converted(arguments[0], "each", "each")
            return f"[{written} for each in {value}]", f"tuple([{read} for each in {data}])"
        if origin is Mapping and all(map(_is_plain, arguments)):
            return f"dict({value})", data
        if isinstance(hint, type) and issubclass(hint, JsonObject):
            functions = _functions_of(hint)
            return f"{self._named(functions.write)}({value})", f"{self._named(functions.read)}({data})"
        raise TypeError(f"there is no rule to write {hint} as JSON")

    def _named(self, value: object) -> str:
        name = f"name_{len(self.namespace)}"
        self.namespace[name] = value
        return name


def _is_plain(hint: Any) -> bool:
    """Return whether values of the type are written to JSON unchanged."""
    if _is_union(hint):
        return all(map(_is_plain, get_args(hint)))
    return hint in (str, int, float, bool, types.NoneType, Any) or get_origin(hint) in (Literal, dict) or hint is dict


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


def _functions_of(cls: type[JsonObject]) -> JsonFunctions:
    """Return the functions for a nested class: its own methods, or generated ones.

    Generated functions are called directly, which is faster than through ``to_json`` and ``from_json``.
    """
    if cls.to_json is not JsonObject.to_json:
        return JsonFunctions(cls.to_json, cls.from_json)
    return json_functions(cls)
