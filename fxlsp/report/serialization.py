"""JSON of dataclasses, derived from their fields.

A dataclass that is a :class:`JsonObject` is an object with a key for each field, in the order of the fields. Tuples are
arrays, other such dataclasses are objects, and numbers, texts, None and dictionaries are themselves. The metadata of a
field make an exception: :data:`INLINE` or :data:`UNLESS_DEFAULT`.

Unknown keys are ignored, and the keys of fields with a default may be absent, so either side may be newer by a little.

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
"""Metadata of a field whose keys are put among those of the object that holds it."""
UNLESS_DEFAULT = {"json": "unless default"}
"""Metadata of a field that is left out where it has its default."""


class JsonObject:
    """Base of a dataclass that is written to JSON and read from it."""

    __slots__ = ()

    def to_json(self) -> dict[str, Any]:
        """Return the JSON object that stands for this one."""
        return fields_to_json(self)

    @classmethod
    def from_json(cls: type[T], data: Any) -> T:
        """Return the object that :meth:`to_json` wrote.

        Raises:
            KeyError, TypeError, AttributeError: ``data`` lack a field, or hold something else in its place.
        """
        return fields_from_json(cls, data)


def fields_to_json(value: JsonObject) -> dict[str, Any]:
    """Write the fields of an object, for a class with a ``to_json`` of its own."""
    return json_functions(type(value)).write(value)


def fields_from_json(cls: type[T], data: Any) -> T:
    """Read an object from its fields, for a class with a ``from_json`` of its own; raises as that does."""
    found: T = json_functions(cls).read(data)
    return found


class JsonFunctions(NamedTuple):
    """The pair of functions that write and read one class."""

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
    """The text of the functions for one class, and the names that it uses."""

    def __init__(self, cls: type[JsonObject]) -> None:
        self.namespace: dict[str, Any] = {"cls": cls}
        self._written: list[str] = []
        self._read: list[str] = []
        self._absent: list[str] = []

    @property
    def text(self) -> str:
        """Reading is tried once more with defaults in the place of keys that are absent, which is rare."""
        written, read, absent = (", ".join(entries) for entries in (self._written, self._read, self._absent))
        return (
            f"def write(value):\n    return {{{written}}}\n"
            f"def read(data):\n    try:\n        return cls({read})\n    except KeyError:\n        pass\n"
            f"    data = {{**{{{absent}}}, **data}}\n    return cls({read})\n"
        )

    def add(self, field: Field[Any], hint: Any) -> None:
        """Add what writes and reads one field."""
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
        """Return expressions for the JSON of ``value``, and for the value of which ``data`` are the JSON."""
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
    """Whether values of the type are themselves in JSON."""
    if _is_union(hint):
        return all(map(_is_plain, get_args(hint)))
    return hint in (str, int, float, bool, types.NoneType, Any) or get_origin(hint) in (Literal, dict) or hint is dict


def _is_union(hint: Any) -> bool:
    return get_origin(hint) in (Union, types.UnionType)


def _functions_of(cls: type[JsonObject]) -> JsonFunctions:
    """Those that a class has by itself, or else those for its fields, without the way through its methods."""
    if cls.to_json is not JsonObject.to_json:
        return JsonFunctions(cls.to_json, cls.from_json)
    return json_functions(cls)
