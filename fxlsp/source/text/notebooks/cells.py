"""The cells of a notebook as one text, and the way back from its lines to theirs.

Each cell has as many lines in that text as it has itself, whatever is in them: one that is not Python has blank ones.
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
    """Where a cell stops being Python: a line from 1 and columns from 1 within the cell, the end exclusive."""

    message: str
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True)
class Cell:
    """A cell as it is now; an edit makes another one."""

    uri: str
    """As the editor calls it; "" in a file."""
    version: int | None
    text: str
    is_python: bool = True
    """That is its language."""
    is_code: bool = True
    _earlier_valid: str | None = None
    """The newest text before this one that parses, without magics."""

    @cached_property
    def lines(self) -> LineIndex:
        return LineIndex(self.text)

    @cached_property
    def python(self) -> str:
        """Its part of the notebook's text."""
        return python_of(self.text) if self.is_python and self.is_code else self._blank

    @cached_property
    def error(self) -> CellError | None:
        """Python's word on why it does not parse."""
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
        """Whether both parsers take it. Python alone would do but for what tree-sitter does not know yet."""
        return self.error is None and not parse(self.python).root_node.has_error

    @property
    def last_valid(self) -> str:
        """Its newest part of the notebook's text that parses; blank if none has."""
        if self.parses:
            return self.python
        return self._blank if self._earlier_valid is None else self._earlier_valid

    @property
    def uses_earlier_text(self) -> bool:
        """Whether an earlier text stands for it."""
        return not self.parses and self._earlier_valid is not None

    @property
    def _blank(self) -> str:
        return "\n" * (self.lines.line_count - 1)

    def changed(self, text: str, version: int | None) -> Cell:
        before = self.python if self.parses else self._earlier_valid
        return replace(self, version=version, text=text, _earlier_valid=before)

    def of_kind(self, is_code: bool) -> Cell:
        """The same text as code, or as none."""
        return self if is_code == self.is_code else replace(self, is_code=is_code)


@dataclass(frozen=True, slots=True)
class Extent:
    """Where a cell lies in the text of its notebook."""

    cell: Cell
    number: int
    """From 1, among all cells."""
    first_line: int
    last_line: int


class Cells:
    """All cells of a notebook, in order. They never change."""

    def __init__(self, cells: Iterable[Cell]) -> None:
        self.cells = tuple(cells)

    @cached_property
    def extents(self) -> tuple[Extent, ...]:
        extents: list[Extent] = []
        line = 1
        for number, cell in enumerate(self.cells, 1):
            extents.append(Extent(cell, number, line, line + cell.lines.line_count - 1))
            line += cell.lines.line_count
        return tuple(extents)

    @cached_property
    def text(self) -> str:
        """The notebook as one module: what is not Python is blank."""
        return "\n".join(cell.python for cell in self.cells)

    @cached_property
    def last_valid_text(self) -> str:
        """The same, with the newest text that parsed of each cell."""
        return "\n".join(cell.last_valid for cell in self.cells)

    @cached_property
    def parses(self) -> bool:
        return all(cell.parses for cell in self.cells)

    @cached_property
    def by_uri(self) -> dict[str, Extent]:
        return {extent.cell.uri: extent for extent in self.extents}

    def at(self, line: int) -> Extent | None:
        """The cell that holds a line of the text, the nearest for one outside it; None where there is no cell."""
        index = bisect_right(self.extents, line, key=lambda extent: extent.first_line)
        return self.extents[max(index - 1, 0)] if self.extents else None

    def cell_location(self, location: Location) -> Location:
        """A place of the text as one of a cell."""
        extent = self.at(location.line)
        if extent is None:
            return location
        before = extent.first_line - 1
        return replace(location, line=location.line - before, end_line=location.end_line - before, cell=extent.number)

    def replaced(self, changed: Iterable[Cell]) -> Cells:
        """With these in the place of those that they are called like."""
        new = {cell.uri: cell for cell in changed}
        return Cells(new.get(cell.uri, cell) for cell in self.cells)

    def spliced(self, start: int, count: int, inserted: Iterable[Cell]) -> Cells:
        """With others in the place of ``count`` cells, the first of them at index ``start``."""
        return Cells((*self.cells[:start], *inserted, *self.cells[start + count :]))
