"""Base of a protocol's messages: a dataclass for each ``type``, and decoding."""

from __future__ import annotations

import types
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar, Literal, Union, get_args, get_origin, get_type_hints

from ..report.serialization import JsonObject, json_functions
from .frames import JsonMessage, WireError, decode, encode


class WireMessage(JsonObject):
    """Base class of the messages of a protocol, each a dataclass."""

    __slots__ = ()

    type: ClassVar[str]
    """Name of the message on the wire."""

    def encoded(self) -> bytes:
        """Return the frame of the message."""
        return encode({"type": self.type, **self.to_json()})


@dataclass(frozen=True, slots=True)
class UnknownMessage(WireMessage):
    """Message of an unknown type, to be logged."""

    type: ClassVar[str] = ""
    name: str
    """Type of the message on the wire."""


class Vocabulary:
    """The messages of one protocol."""

    def __init__(self, *classes: type[WireMessage]) -> None:
        self._classes = {cls.type: cls for cls in classes}
        self._kinds: dict[str, tuple[tuple[str, tuple[type, ...]], ...]] = {}

    def parse(self, data: JsonMessage) -> WireMessage:
        """Return the message that ``data`` represents, or an :class:`UnknownMessage`.

        Raises:
            WireError: the type is known, and a field is missing or has the wrong type.
        """
        name = data["type"]
        cls = self._classes.get(name)
        if cls is None:
            return UnknownMessage(name)
        for key, kinds in self._kinds_of(cls):
            if key in data and not isinstance(data[key], kinds):
                raise WireError(f"a message {name!r} has {type(data[key]).__name__} as its {key!r}")
        try:
            return cls.from_json(data)
        except KeyError as error:
            raise WireError(f"a message {name!r} lacks {error}") from error
        except (TypeError, AttributeError) as error:
            raise WireError(f"a message {name!r} is malformed: {error}") from error

    def decode(self, payload: bytes) -> WireMessage:
        """Return the message in the payload of a frame.

        Raises:
            WireError: as :meth:`parse`, and if the payload is not a JSON message.
        """
        return self.parse(decode(payload))

    def prepare(self) -> None:
        """Generate the conversion functions ahead of time.

        Done before forking, it saves each forked process some milliseconds.
        """
        for cls in self._classes.values():
            json_functions(cls)
            self._kinds_of(cls)

    def _kinds_of(self, cls: type[WireMessage]) -> tuple[tuple[str, tuple[type, ...]], ...]:
        """Return the Python types that each field of a class may have as JSON."""
        if cls.type not in self._kinds:
            hints = get_type_hints(cls)
            listed = fields(cls)  # type: ignore[arg-type]  # every message is a dataclass
            self._kinds[cls.type] = tuple((each.name, tuple(_kinds(hints[each.name]))) for each in listed)
        return self._kinds[cls.type]


def _kinds(hint: Any) -> set[type]:
    """Return the Python types that a value of a type has as JSON, at the top level."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return set().union(*map(_kinds, arguments))
    if origin is Literal:
        return {type(value) for value in arguments}
    if origin is tuple:
        return {list}
    if origin in (dict, Mapping) or (isinstance(hint, type) and issubclass(hint, JsonObject)):
        return {dict}
    return {int, float} if hint is float else {object if hint is Any else hint}
