"""Changes of the editor as edits, against a reference that knows nothing but the protocol's words."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st
from lsprotocol import types

from fxlsp.server.sync.text import edits_of
from fxlsp.source.text.positions import Encoding, LineIndex

_UNITS: dict[Encoding, tuple[str, int]] = {
    "utf-8": ("utf-8", 1),
    "utf-16": ("utf-16-le", 2),
    "utf-32": ("utf-32-le", 4),
}

texts = st.text(alphabet="ab\n\r\t\x0c\u2028é😀", max_size=30)
encodings: st.SearchStrategy[Encoding] = st.sampled_from(["utf-8", "utf-16", "utf-32"])


@st.composite
def partial_changes(draw: st.DrawFn, text: str, encoding: Encoding) -> types.TextDocumentContentChangePartial:
    """A change between two places of ``text`` that do not split a character or a line's end."""
    ends = sorted(draw(st.sampled_from(_offsets(text))) for _ in range(2))
    start, end = (_position(text, offset, encoding) for offset in ends)
    return types.TextDocumentContentChangePartial(range=types.Range(start, end), text=draw(texts))


@given(st.data(), texts, encodings)
def test_edits_give_the_text_that_the_editor_has(data: st.DataObject, text: str, encoding: Encoding) -> None:
    expected, changes = text, []
    for _ in range(data.draw(st.integers(1, 4))):
        change = data.draw(partial_changes(expected, encoding))
        expected = _reference(expected, change, encoding)
        changes.append(change)
    assert _applied(text, changes, encoding) == expected


@given(texts, texts)
def test_a_whole_text_replaces_the_old_one(old: str, new: str) -> None:
    assert _applied(old, [types.TextDocumentContentChangeWholeDocument(text=new)], "utf-16") == new


def _applied(text: str, changes: Sequence[types.TextDocumentContentChangeEvent], encoding: Encoding) -> str:
    for edit in edits_of(LineIndex(text), changes, encoding):
        text = edit.apply(text)
    return text


def _lines(text: str) -> list[str]:
    """The lines with their terminators."""
    return re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z", text)


def _offsets(text: str) -> list[int]:
    return [offset for offset in range(len(text) + 1) if text[offset - 1 : offset + 1] != "\r\n" or offset == 0]


def _position(text: str, offset: int, encoding: Encoding) -> types.Position:
    codec, size = _UNITS[encoding]
    *before, last = ["", *_lines(text[:offset])]
    if last.endswith(("\r", "\n")):
        before, last = [*before, last], ""
    line = sum(1 for each in before if each)
    return types.Position(line, len(last.encode(codec)) // size)


def _reference(text: str, change: types.TextDocumentContentChangePartial, encoding: Encoding) -> str:
    codec, size = _UNITS[encoding]
    encoded = [line.encode(codec) for line in _lines(text)]

    def index(place: types.Position) -> int:
        return sum(len(line) for line in encoded[: place.line]) + place.character * size

    whole = text.encode(codec)
    return (whole[: index(change.range.start)] + change.text.encode(codec) + whole[index(change.range.end) :]).decode(
        codec
    )
