"""The cells of a notebook as one text, and conversion of its lines to theirs.

Each cell has the same number of lines in that text as by itself; the lines of a cell that is not Python are blank.
Columns are those of the cell.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property

from fxlsp.report.locations import Location
from fxlsp.source.text.notebooks.ipython_magics import python_of
from fxlsp.source.text.positions import LineIndex
from fxlsp.source.text.python_parser import SYNTAX_ERRORS, parsed_module
from fxlsp.source.text.syntax import parse


@dataclass(frozen=True)
class CellError:
    """Syntax error of a cell; lines and columns from 1, the end exclusive."""

    message: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Cell:
    """Immutable version of a cell; an edit returns another cell."""

    uri: str
    """As the editor spells it; "" for a cell read from a file."""
    version: int | None
    text: str
    is_python: bool = True
    """Whether its language is Python."""
    is_code: bool = True
    _earlier_valid: str | None = None
    """The newest earlier text that parses, without magics."""

    @cached_property
    def lines(self) -> LineIndex:
        """The lines of the cell."""
        return LineIndex(self.text)

    @cached_property
    def python(self) -> str:
        """The text of the cell in that of the notebook: without magics, or blank."""
        return python_of(self.text) if self.is_python and self.is_code else self._blank

    @cached_property
    def error(self) -> CellError | None:
        """The syntax error that Python's parser reports, if any."""
        try:
            parsed_module(self.python)
        except SyntaxError as error:
            line, column = self.lines.place(self.lines.offset(error.lineno or 1, error.offset or 1))
            end = self.lines.place(self.lines.offset(error.end_lineno or line, error.end_offset or 0))
            return CellError(error.msg, line, column, *max(end, (line, column + 1)))
        except SYNTAX_ERRORS as error:
            return CellError(str(error), 1, 1, 1, 2)
        return None

    @cached_property
    def parses(self) -> bool:
        """Whether both parsers accept it: tree-sitter may lack newer syntax of Python."""
        return self.error is None and not parse(self.python).root_node.has_error

    @property
    def has_syntax_error(self) -> bool:
        """Whether both parsers refuse it: Python here may be older than the notebook's."""
        return self.error is not None and parse(self.python).root_node.has_error

    @property
    def last_valid(self) -> str:
        """The newest text of the cell that parses, without magics; blank if none does."""
        if self.parses:
            return self.python
        return self._blank if self._earlier_valid is None else self._earlier_valid

    @property
    def uses_earlier_text(self) -> bool:
        """Whether an earlier text replaces the present one, which does not parse."""
        return not self.parses and self._earlier_valid is not None

    @property
    def _blank(self) -> str:
        return "\n" * (self.lines.line_count - 1)

    def changed(self, text: str, version: int | None) -> Cell:
        """Return the cell with another text."""
        before = self.python if self.parses else self._earlier_valid
        return replace(self, version=version, text=text, _earlier_valid=before)

    def of_kind(self, is_code: bool) -> Cell:
        """Return the same text as a code cell, or as another kind of cell."""
        return self if is_code == self.is_code else replace(self, is_code=is_code)


@dataclass(frozen=True, slots=True)
class Extent:
    """Lines of a cell in the text of its notebook, from 1, both inclusive."""

    cell: Cell
    number: int
    """From 1, among all cells."""
    first_line: int
    last_line: int


class Cells:
    """Immutable sequence of all cells of a notebook."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self.cells = tuple(cells)

    @cached_property
    def extents(self) -> tuple[Extent, ...]:
        """The lines of each cell in the text of the notebook, in order."""
        extents: list[Extent] = []
        line = 1
        for number, cell in enumerate(self.cells, 1):
            extents.append(Extent(cell, number, line, line + cell.lines.line_count - 1))
            line += cell.lines.line_count
        return tuple(extents)

    @cached_property
    def text(self) -> str:
        """The notebook as the text of one module: whatever is not Python is blank."""
        return "\n".join(cell.python for cell in self.cells)

    @cached_property
    def last_valid_text(self) -> str:
        """The notebook as one module, with the newest text of each cell that parses."""
        return "\n".join(cell.last_valid for cell in self.cells)

    @cached_property
    def parses(self) -> bool:
        """Whether every cell parses."""
        return all(cell.parses for cell in self.cells)

    @cached_property
    def by_uri(self) -> dict[str, Extent]:
        """The lines of each cell, by the URI of the cell."""
        return {extent.cell.uri: extent for extent in self.extents}

    def at(self, line: int) -> Extent | None:
        """Return the cell of a line of the text, or the nearest; None without any cell."""
        index = bisect_right(self.extents, line, key=lambda extent: extent.first_line)
        return self.extents[max(index - 1, 0)] if self.extents else None

    def cell_location(self, location: Location) -> Location:
        """Convert a location in the text to one in a cell."""
        extent = self.at(location.line)
        if extent is None:
            return location
        before = extent.first_line - 1
        return replace(location, line=location.line - before, end_line=location.end_line - before, cell=extent.number)

    def replaced(self, changed: Iterable[Cell]) -> Cells:
        """Return the cells with those of the same URIs replaced."""
        new = {cell.uri: cell for cell in changed}
        return Cells(new.get(cell.uri, cell) for cell in self.cells)

    def spliced(self, start: int, count: int, inserted: Iterable[Cell]) -> Cells:
        """Return the cells with ``count`` of them, from ``start`` on, replaced."""
        return Cells((*self.cells[:start], *inserted, *self.cells[start + count :]))
