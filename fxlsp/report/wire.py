"""The wire between the server and a template process.

A frame is four bytes of length, big-endian, then that many bytes of UTF-8 JSON: one object with a ``type``. Unknown
fields are ignored and unknown types logged, so either side may be newer by a little; ``PROTOCOL`` is raised when it
may not.

Messages to the template:

- ``overlay {path, digest, text}``: the text of an unsaved buffer, sent once for each digest.
- ``trace {id, target: {file | module, name}, recipe: {init | null, inputs | null, source}, overlays: {path: digest},
  roots: [folder], limits: {seconds, megabytes}}``
- ``cancel {id}``, ``preload {names}``, ``bye {}``.

Messages from it:

- ``hello {protocol, python, torch, executable, fork, positions}``: once, when a trace can be asked for; ``fork`` says
  whether it would be carried out by a forked process.
- ``refused {code, message}``: instead of ``hello``, when this interpreter cannot trace.
- ``stage {id, name}``: ``load``, ``construct``, ``trace``, ``values``, ``checks``.
- ``report {id, report, reads: [{path, digest}], imports: [name]}``: the trace's result; ``reads`` lists each
  workspace file that was executed, with the digest of its text, ``imports`` the third-party packages it loaded.
- ``failure {id, failure, reads, imports}``: the model has no graph (a :class:`~.problems.Failure`).
- ``failed {id, stage, exit, signal, limit, stack: [{file, line, function}], stderr_tail}``: the child died;
  ``stack`` is innermost first, ``limit`` is "time" or "memory" when it was ended at that limit.
- ``log {level, message}``.
"""

from __future__ import annotations

import hashlib
import json
import struct
from typing import Any

Message = dict[str, Any]

PROTOCOL = 1
"""Version of this vocabulary."""

FRAME_LIMIT = 256 * 2**20
"""Bytes; a longer frame means that the stream is not ours."""

_LENGTH = struct.Struct(">I")


class WireError(Exception):
    """The other side sent something that is not a frame of this protocol."""


def encode(message: Message) -> bytes:
    """One frame."""
    payload = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode("utf-8", "surrogatepass")
    return framed(payload)


class Splitter:
    """Cuts a stream of bytes into frames, whatever pieces it comes in, without looking into them."""

    def __init__(self) -> None:
        self._buffer = bytearray()

    def feed(self, data: bytes) -> list[bytes]:
        """The payloads of the frames that ``data`` completes.

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
    """Turns a stream of bytes into messages."""

    def __init__(self) -> None:
        self._splitter = Splitter()

    def feed(self, data: bytes) -> list[Message]:
        """The messages that ``data`` completes.

        Raises:
            WireError: the stream does not hold frames of JSON objects.
        """
        return [decode(payload) for payload in self._splitter.feed(data)]


def framed(payload: bytes) -> bytes:
    """A payload with its length before it."""
    return _LENGTH.pack(len(payload)) + payload


def decode(payload: bytes) -> Message:
    """The message that a frame holds; raises WireError if it holds none."""
    try:
        message = json.loads(payload.decode("utf-8", "surrogatepass"))
    except ValueError as error:
        raise WireError(f"a frame does not hold JSON: {error}") from error
    if not isinstance(message, dict) or not isinstance(message.get("type"), str):
        raise WireError("a frame does not hold an object with a type")
    return message


def text_digest(text: str) -> str:
    """The name under which a text travels: sha256 of its UTF-8 bytes."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
