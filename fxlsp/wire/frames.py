"""Frames of the wire: four bytes of length, big-endian, then that many bytes of UTF-8 JSON, one object with a ``type``.

What the objects are is the matter of :mod:`.messages`.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Mapping
from typing import Any

JsonMessage = dict[str, Any]
"""A message as it travels."""

FRAME_LIMIT = 256 * 2**20
"""Bytes; a longer frame means that the stream is not ours."""

_LENGTH = struct.Struct(">I")


class WireError(Exception):
    """The other side sent something that is no frame, or no message, of this protocol."""


def encode(message: Mapping[str, Any]) -> bytes:
    """Return the frame of a message."""
    payload = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    return framed(payload)


def framed(payload: bytes) -> bytes:
    """Return a payload with its length before it."""
    return _LENGTH.pack(len(payload)) + payload


def decode(payload: bytes) -> JsonMessage:
    """Return the message that a payload holds.

    Raises:
        WireError: it holds none.
    """
    try:
        message = json.loads(payload.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise WireError(f"a frame does not hold JSON: {error}") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise WireError("a frame does not hold an object with a type")
    return message


class Splitter:
    """Cuts a stream of bytes into frames, whatever pieces it comes in, without looking into them."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """Return the payloads of the frames that ``data`` completes.

        Raises:
            WireError: the stream does not hold frames.
        """
        self._buffer += data
        payloads: list[bytes] = []
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > FRAME_LIMIT:
                raise WireError(f"a frame of {length} bytes is over the limit of {FRAME_LIMIT}")
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                break
            payloads.append(bytes(self._buffer[_LENGTH.size : end]))
            del self._buffer[:end]
        return payloads


class Decoder:
    """Turns a stream of bytes into messages as they travel."""

    def __init__(self) -> None:
        self._splitter = Splitter()

    def feed(self, data: bytes) -> list[JsonMessage]:
        """Return the messages that ``data`` completes.

        Raises:
            WireError: the stream does not hold frames of JSON objects.
        """
        return [decode(payload) for payload in self._splitter.feed(data)]


def text_digest(text: str) -> str:
    """Return the name under which a text travels: sha256 of its UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
