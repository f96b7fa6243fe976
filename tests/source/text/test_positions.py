"""Coordinates, against a reference that counts character by character."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxlsp.report.locations import Location
from fxlsp.source.text.positions import Encoding, LineIndex, Span

TEXTS = st.text(
    st.one_of(st.sampled_from("\r\n\f\v\u2028\u2029\x85\x1c\ufeff\tab é中𝒳\U0001f468\u200d"), st.characters()),
    max_size=40,
)
ENCODINGS: tuple[Encoding, ...] = ("utf-8", "utf-16", "utf-32")


def reference_lines(text: str) -> list[tuple[int, str]]:
    """Return the offset and text of every line, found one character at a time."""
    lines, start, index = [], 0, 0
    while index < len(text):
        width = 2 if text[index : index + 2] == "\r\n" else 1
        if text[index] in "\r\n":
            lines.append((start, text[start:index]))
            start = index + width
        index += width
    return [*lines, (start, text[start:])]


def reference_units(text: str, encoding: Encoding) -> int:
    if encoding == "utf-32":
        return len(text)
    if encoding == "utf-16":
        return sum(2 if ord(character) > 0xFFFF else 1 for character in text)
    return sum(len(character.encode("utf-8", "surrogatepass")) for character in text)


def places_of(text: str) -> list[tuple[int, int, int, str]]:
    """Return line, column, offset and the text before it on the line, of every place."""
    return [
        (number, column + 1, start + column, line[:column])
        for number, (start, line) in enumerate(reference_lines(text), 1)
        for column in range(len(line) + 1)
    ]


@given(TEXTS)
def test_lines_end_at_the_terminators_of_the_protocol_and_at_nothing_else(text: str) -> None:
    index = LineIndex(text)
    expected = [line for _, line in reference_lines(text)]
    assert [index.line_text(line) for line in range(1, index.line_count + 1)] == expected
    assert index.line_text(0) == index.line_text(index.line_count + 1) == ""


@given(TEXTS)
def test_places_and_offsets_are_converted_as_the_reference_does(text: str) -> None:
    index = LineIndex(text)
    for line, column, offset, _ in places_of(text):
        assert index.offset(line, column) == offset
        assert index.place(offset) == (line, column)


@given(TEXTS)
def test_an_offset_within_a_terminator_is_the_end_of_its_line(text: str) -> None:
    index = LineIndex(text)
    for offset in range(len(text) + 1):
        line, column = index.place(offset)
        assert column <= len(index.line_text(line)) + 1
        assert index.offset(line, column) in (offset, offset - 1)


@given(TEXTS, st.sampled_from(ENCODINGS))
def test_positions_of_the_protocol_are_converted_as_the_reference_does(text: str, encoding: Encoding) -> None:
    index = LineIndex(text)
    for line, column, _, before in places_of(text):
        units = reference_units(before, encoding)
        assert index.to_lsp(line, column, encoding) == (line - 1, units)
        assert index.from_lsp(line - 1, units, encoding) == (line, column)


@given(TEXTS)
def test_points_of_the_parser_are_converted_as_the_reference_does(text: str) -> None:
    index = LineIndex(text)
    for line, column, _, before in places_of(text):
        units = reference_units(before, "utf-8")
        assert index.from_bytes(line - 1, units) == (line, column)
        assert index.to_bytes(line, column) == (line - 1, units)


@given(TEXTS, st.integers(-3, 50), st.integers(-3, 50), st.sampled_from(ENCODINGS))
def test_whatever_is_asked_the_answer_lies_in_the_text(text: str, row: int, column: int, encoding: Encoding) -> None:
    index = LineIndex(text)
    places = {(line, column) for line, column, *_ in places_of(text)}
    assert index.from_lsp(row, column, encoding) in places
    assert index.from_bytes(max(row, 0), max(column, 0)) in places
    assert index.place(column) in places
    assert 0 <= index.offset(row, column) <= len(text)


def test_a_position_within_a_character_is_the_place_before_it() -> None:
    index = LineIndex("a𝒳b")
    assert index.from_lsp(0, 2, "utf-16") == (1, 2)
    assert index.from_lsp(0, 3, "utf-8") == (1, 2)


def test_a_position_behind_its_line_is_the_end_of_the_line_and_behind_the_text_its_end() -> None:
    index = LineIndex("one\r\ntwo")
    assert index.from_lsp(0, 99, "utf-16") == (1, 4)
    assert index.from_lsp(9, 0, "utf-16") == (2, 4)


@pytest.mark.parametrize(
    ("line", "column", "inside"),
    [(1, 4, False), (1, 5, True), (2, 1, True), (2, 3, True), (2, 4, False), (3, 1, False)],
)
def test_a_cursor_is_on_a_span_up_to_right_behind_its_end(line: int, column: int, inside: bool) -> None:
    assert Span(1, 5, 2, 3).contains(line, column) is inside


def test_a_span_is_that_of_its_location() -> None:
    assert Span.of(Location("/a.py", 1, 2, 3, 4, "forward")) == Span(1, 2, 3, 4)


def test_a_span_names_its_text() -> None:
    index = LineIndex("a = é𝒳(\r\n  1)\r\n")
    assert index.slice(Span(1, 5, 2, 5)) == "é𝒳(\r\n  1)"
    assert index.span(4, 13) == Span(1, 5, 2, 5)
