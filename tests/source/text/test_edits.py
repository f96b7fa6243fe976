"""Where spans go while a text is edited."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from fxlsp.source.text.diff import edits_between
from fxlsp.source.text.documents import Document, TextEdit
from fxlsp.source.text.edits import EditLog, MovedSpan, move
from fxlsp.source.text.positions import LineIndex, Span

TEXTS = st.text(st.sampled_from("ab\n\r é𝒳"), max_size=24)


@dataclass(frozen=True)
class Mark:
    """A character that remembers where in the old text it stood."""

    character: str
    origin: int | None


def marked(text: str) -> list[Mark]:
    return [Mark(character, index) for index, character in enumerate(text)]


def text_of_marks(marks: list[Mark]) -> str:
    return "".join(mark.character for mark in marks)


@st.composite
def histories(draw: st.DrawFn) -> tuple[str, list[list[TextEdit]]]:
    """Generate a text, and changes to it of one or more edits each."""
    text = first = draw(TEXTS)
    changes: list[list[TextEdit]] = []
    for _ in range(draw(st.integers(0, 6))):
        change: list[TextEdit] = []
        for _ in range(draw(st.integers(1, 3))):
            start = draw(st.integers(0, len(text)))
            end = draw(st.integers(start, min(len(text), start + 6)))
            edit = TextEdit(start, end, draw(st.text(st.sampled_from("xy\n\r"), max_size=4)))
            change.append(edit)
            text = edit.apply(text)
        changes.append(change)
    return first, changes


def log_of(text: str, changes: list[list[TextEdit]]) -> EditLog:
    log = EditLog.starting_at(LineIndex(text))
    for change in changes:
        for edit in change:
            text = edit.apply(text)
        log = log.extended(change, LineIndex(text))
    return log


def moved_by_marks(marks: list[Mark], start: int, end: int) -> tuple[int, int] | None:
    """Return the new offsets of the characters between two offsets, if still adjacent."""
    places = [index for index, mark in enumerate(marks) if mark.origin is not None and start <= mark.origin < end]
    if len(places) != end - start or places != list(range(places[0], places[0] + len(places))):
        return None
    return places[0], places[-1] + 1


@given(histories(), st.data())
def test_a_span_stays_as_long_as_its_characters_and_is_where_the_text_reads_the_same(
    history: tuple[str, list[list[TextEdit]]], data: st.DataObject
) -> None:
    text, changes = history
    marks = marked(text)
    for change in changes:
        for edit in change:
            marks[edit.start_offset : edit.old_end_offset] = [Mark(each, None) for each in edit.new_text]
        if text_of_marks(marks) == text:
            marks = marked(text)  # All is as it was before, however it came to be.
    log = log_of(text, changes)
    assert text_of_marks(marks) == log.after.text
    before, after = LineIndex(text), LineIndex(log.after.text)
    for start in range(len(text)):
        end = data.draw(st.integers(start + 1, len(text)))
        span = before.span(start, end)
        if before.offset(span.line, span.column) != start or before.offset(span.end_line, span.end_column) != end:
            continue  # It starts or ends within a line's end: no place names it.
        expected = moved_by_marks(marks, start, end)
        moved = move(span, log)
        assert expected is None or moved is not None
        if moved is not None:
            # Where several places read the same, an edit does not say which of them was there before.
            # A place inside a line's end cannot be named: a carriage return behind which a line feed was typed.
            assert after.slice(moved.span).strip("\r\n") == text[start:end].strip("\r\n")


@given(histories())
def test_hunks_stay_in_order_and_apart(history: tuple[str, list[list[TextEdit]]]) -> None:
    log = log_of(*history)
    for one, other in zip(log.hunks, log.hunks[1:], strict=False):
        assert one.old_end < other.old_start
        assert other.old_start - one.old_end == other.new_start - one.new_end
    assert all(hunk.old_start < hunk.old_end or hunk.new_start < hunk.new_end for hunk in log.hunks)


@given(histories(), st.data())
def test_a_span_that_edits_have_moved_is_moved_back_by_the_reversed_log(
    history: tuple[str, list[list[TextEdit]]], data: st.DataObject
) -> None:
    text, changes = history
    log = log_of(text, changes)
    start = data.draw(st.integers(0, max(0, len(text) - 1)))
    end = data.draw(st.integers(min(start + 1, len(text)), len(text)))
    span = log.before.span(start, end)
    moved = move(span, log)
    # A place inside a line's end cannot be named, see above: where one was to be, the span reads differently.
    if moved is not None and start < end and log.after.slice(moved.span) == text[start:end]:
        back = move(moved.span, log.reversed())
        assert back is not None
        assert log.before.slice(back.span).strip("\r\n") == text[start:end].strip("\r\n")


@given(TEXTS, TEXTS)
def test_edits_between_two_texts_turn_one_into_the_other(old: str, new: str) -> None:
    text = old
    for edit in edits_between(old, new):
        text = edit.apply(text)
    assert text == new


def test_a_whole_text_that_differs_in_two_lines_leaves_the_spans_between_alone() -> None:
    old = "import torch\n\n\ndef f(x):\n    return x\n\n\nprint(f(1))\n"
    new = "import torch, os\n\n\ndef f(x):\n    return x\n\n\nprint(f(2))\n"
    log = EditLog.starting_at(LineIndex(old)).extended(edits_between(old, new), LineIndex(new))
    assert move(Span(5, 5, 5, 13), log) == MovedSpan(Span(5, 5, 5, 13), stale=False)
    assert move(Span(8, 7, 8, 11), log) is None


def test_texts_of_many_different_lines_are_one_edit_rather_than_a_long_comparison() -> None:
    old = "".join(f"a{number}\n" for number in range(5000))
    new = "".join(f"b{number}\n" for number in range(5000))
    assert len(edits_between(old, new)) == 1


def after(old: str, *edits: TextEdit) -> EditLog:
    document = Document("untitled:a", "/untitled/a.py", 1, old)
    return EditLog.starting_at(document.lines).extended(edits, document.edited(edits, 2).lines)


def test_a_line_put_above_shifts_a_span_and_leaves_it_fresh() -> None:
    log = after("y = x + 1\n", TextEdit(0, 0, "# a comment\n"))
    assert move(Span(1, 5, 1, 10), log) == MovedSpan(Span(2, 5, 2, 10), stale=False)


def test_a_new_line_begun_at_the_end_of_a_line_leaves_it_fresh() -> None:
    log = after("y = x\nz = y\n", TextEdit(5, 5, "\n"))
    assert move(Span(1, 5, 1, 6), log) == MovedSpan(Span(1, 5, 1, 6), stale=False)
    assert move(Span(2, 1, 2, 6), log) == MovedSpan(Span(3, 1, 3, 6), stale=False)


def test_typing_beside_a_span_keeps_it_stale() -> None:
    log = after("f(x)\n", TextEdit(4, 4, ".relu()"), TextEdit(0, 0, "y = "))
    assert move(Span(1, 1, 1, 5), log) == MovedSpan(Span(1, 5, 1, 9), stale=True)


def test_typing_inside_a_span_drops_it() -> None:
    assert move(Span(1, 1, 1, 5), after("f(x)\n", TextEdit(3, 3, "y"))) is None


def test_what_is_typed_and_taken_back_leaves_no_trace() -> None:
    log = after("f(x)\n", TextEdit(3, 3, "y"), TextEdit(3, 4, ""))
    assert log.hunks == ()
    assert move(Span(1, 1, 1, 5), log) == MovedSpan(Span(1, 1, 1, 5), stale=False)


def test_a_line_that_is_taken_out_and_put_back_is_as_before_although_another_line_differs() -> None:
    log = after("x = 1\ny = f(x)\nz = y\n", TextEdit(4, 5, "2"), TextEdit(6, 15, ""), TextEdit(6, 6, "y = f(x)\n"))
    assert move(Span(2, 5, 2, 9), log) == MovedSpan(Span(2, 5, 2, 9), stale=False)


def test_a_deleted_line_that_is_typed_again_above_one_that_ends_like_it_is_as_before() -> None:
    text = "a = f(1, s=2)\nb = g(3, s=2)\nc = 0\n"
    log = after(
        text, TextEdit(0, 0, "#\n"), TextEdit(16, 30, ""), TextEdit(8, 8, "1, s=2)\nb = g(3, "), TextEdit(25, 28, "")
    )
    assert log.after.text == "#\n" + text
    assert move(Span(2, 5, 2, 14), log) == MovedSpan(Span(3, 5, 3, 14), stale=False)


def test_of_a_stretch_that_is_typed_anew_only_what_differs_counts() -> None:
    log = after("y = f(x)\nz = g(y)\n", TextEdit(0, 18, "y = f(x)\nz = h(y)\n"))
    assert move(Span(1, 5, 1, 9), log) == MovedSpan(Span(1, 5, 1, 9), stale=False)
    assert move(Span(2, 5, 2, 9), log) is None


def test_typing_at_one_place_is_one_hunk() -> None:
    log = after("f()\n", *(TextEdit(2 + index, 2 + index, "x") for index in range(100)))
    assert len(log.hunks) == 1
