"""Frames of the wire protocol: a length, then one JSON object with a ``type``.

The length is four bytes, big-endian; it counts the bytes of the UTF-8 JSON that follows. :mod:`.messages` defines the
objects.
"""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Mapping
from typing import Any

JsonMessage = dict[str, Any]
"""Message as a JSON object."""

FRAME_LIMIT = 256 * 2**20
"""Largest frame, bytes; a longer one means that the stream does not follow this protocol."""

_LENGTH = struct.Struct(">I")


class WireError(Exception):
    """Received data is not a frame or message of this protocol."""


def encode(message: Mapping[str, Any]) -> bytes:
    """Return the frame of a message."""
    payload = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    return framed(payload)


def framed(payload: bytes) -> bytes:
    """Return a payload preceded by its length."""
    return _LENGTH.pack(len(payload)) + payload


def decode(payload: bytes) -> JsonMessage:
    """Return the JSON message in the payload of a frame.

    Raises:
        WireError: the payload is not a JSON object with a ``type``.
    """
    try:
        message = json.loads(payload.decode("utf-8", "surrogatepass"))
    except (ValueError, RecursionError) as error:
        raise WireError(f"a frame does not hold JSON: {error}") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise WireError("a frame does not hold an object with a type")
    return message


class Splitter:
    """Splitter of a byte stream into frames, which are not decoded."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the payloads of the frames that ``data`` completes. The next call yields those that are not taken.

        Raises:
            WireError: a frame exceeds :data:`FRAME_LIMIT`; those before it were yielded.
        """
        self._buffer += data
        while len(self._buffer) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._buffer)
            if length > FRAME_LIMIT:
                raise WireError(f"a frame of {length} bytes is over the limit of {FRAME_LIMIT}")
            end = _LENGTH.size + length
            if len(self._buffer) < end:
                break
            payload = bytes(self._buffer[_LENGTH.size : end])
            del self._buffer[:end]
            yield payload


class Decoder:
    """Decoder of a byte stream into JSON messages."""

    def __init__(self) -> None:
        self._splitter = Splitter()

    def feed(self, data: bytes) -> list[JsonMessage]:
        """Return the messages that ``data`` completes.

        Raises:
            WireError: the stream does not consist of frames of JSON objects.
        """
        return [decode(payload) for payload in self._splitter.feed(data)]


def text_digest(text: str) -> str:
    """Return the digest that identifies a text: SHA-256 of its UTF-8 bytes, in hex."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
