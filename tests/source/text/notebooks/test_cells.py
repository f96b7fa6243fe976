"""The cells of a notebook as one text."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxlsp.engine.state.history import History
from fxlsp.report.locations import Location
from fxlsp.source.text.documents import Document
from fxlsp.source.text.edits import move
from fxlsp.source.text.notebooks.cells import Cell, Cells
from fxlsp.source.text.positions import LineIndex, Span


def cells_of(*texts: str) -> Cells:
    return Cells(Cell(f"cell:{number}", 1, text) for number, text in enumerate(texts))


TEXTS = st.lists(st.text(alphabet="a=1(%!\n\r\t\f\u2028é😀", max_size=12), min_size=1, max_size=4)


@given(TEXTS)
def test_each_line_of_the_text_is_a_line_of_one_cell(texts: list[str]) -> None:
    cells = cells_of(*texts)
    lines = LineIndex(cells.text)
    assert lines.line_count == sum(LineIndex(text).line_count for text in texts)
    for line in range(1, lines.line_count + 1):
        extent = cells.at(line)
        assert extent is not None
        assert extent.first_line <= line <= extent.last_line
        own = extent.cell.lines.line_text(line - extent.first_line + 1)
        assert lines.line_text(line) in (own, " " * len(own)) or "!" in own or "%" in own


def test_a_place_of_the_text_is_reported_by_cell() -> None:
    cells = cells_of("a = 1\n", "", "b = 2\nc = 3")
    assert cells.cell_location(Location("nb.ipynb", 5, 1, 5, 6)) == Location("nb.ipynb", 2, 1, 2, 6, cell=3)


def test_a_broken_cell_is_blank_and_one_that_parsed_stays_as_it_was() -> None:
    cells = cells_of("a = 1", "b = (\n", "c = 3")
    assert cells.last_valid_text == "a = 1\n\n\nc = 3"
    typed = cells.replaced([cells.cells[2].changed("c = (", 2)])
    assert typed.last_valid_text == "a = 1\n\n\nc = 3"
    assert typed.cells[2].uses_earlier_text
    assert not typed.cells[1].uses_earlier_text
    again = typed.replaced([typed.cells[2].changed("c = ((", 3)])
    assert again.last_valid_text == "a = 1\n\n\nc = 3"
    assert again.replaced([again.cells[2].changed("c = 4", 4)]).last_valid_text == "a = 1\n\n\nc = 4"


@pytest.mark.parametrize("text", ["def f(:\n", "print 'a'\n", "x = 1\n  y = 2\n", "f(a=1, 2)\n", "x = '''\n"])
def test_what_python_does_not_parse_is_an_error_within_the_cell(text: str) -> None:
    cell = Cell("", None, text)
    assert not cell.parses
    assert cell.error is not None
    assert 1 <= cell.error.line <= cell.lines.line_count
    assert (cell.error.line, cell.error.column) < (cell.error.end_line, cell.error.end_column)


def test_spans_of_the_program_move_to_the_text_with_its_broken_cell() -> None:
    before = Document.from_cells("nb", "/nb.ipynb", 1, cells_of("a = 1", "b = f(1)", "c = 3"))
    assert before.cells is not None
    history = History.starting_at(before)
    after, edits = before.with_cells(before.cells.replaced([before.cells.cells[1].changed("b = (\n\nf(1)", 2)]), 2)
    history = history.edited(edits, after, {before.digest})
    program = after.program
    assert program.digest == before.digest
    assert after.text == "a = 1\nb = (\n\nf(1)\nc = 3"
    # Another cell is edited while this one is broken: the program is a text that no editor has shown.
    assert after.cells is not None
    last, edits = after.with_cells(after.cells.replaced([after.cells.cells[0].changed("aa = 1", 2)]), 3)
    history = history.edited(edits, last, set())
    log = history.since(last.program.digest)
    assert last.program.text == "aa = 1\nb = f(1)\nc = 3"
    assert log is not None
    moved = move(Span(3, 1, 3, 2), log)
    assert moved is not None
    assert moved.span == Span(5, 1, 5, 2)
