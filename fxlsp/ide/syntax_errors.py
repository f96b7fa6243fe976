"""Where a text stops being Python."""

from __future__ import annotations

from collections.abc import Iterator

from fxlsp.report.codes import NOT_LOADED
from fxlsp.report.locations import Location
from fxlsp.report.problems import Problem
from fxlsp.source.text.documents import Document
from fxlsp.source.text.notebooks.cells import Cells
from fxlsp.source.text.python_parser import SYNTAX_ERRORS, parsed_module


def syntax_problems(document: Document) -> tuple[Problem, ...]:
    """Why the text cannot be traced as it stands; none if it parses. Of a notebook, one for each cell at most."""
    return () if document.parses else document.derive(_find)


_SHORT_TEXT = 20_000
"""Characters; Python's parser takes some milliseconds for as many, at each key while the error lasts."""


def _find(document: Document) -> tuple[Problem, ...]:
    if document.cells is not None:
        return tuple(_of_cells(document.path, document.cells))
    problem = _of_file(document)
    return () if problem is None else (problem,)


def _of_cells(path: str, cells: Cells) -> Iterator[Problem]:
    for extent in cells.extents:
        error = extent.cell.error
        if error is not None:
            before = extent.first_line - 1
            place = Location(path, error.line + before, error.column, error.end_line + before, error.end_column)
            yield Problem(NOT_LOADED, "warning", f"The cell does not parse: {error.message}", place)


def _of_file(document: Document) -> Problem | None:
    if len(document.text) > _SHORT_TEXT:
        return Problem(NOT_LOADED, "warning", "The file does not parse here", _first_error(document))
    try:
        parsed_module(document.text)
    except SyntaxError as error:
        message = f"The file does not parse: {error.msg}"
        return Problem(NOT_LOADED, "warning", message, _location(document, error))
    except SYNTAX_ERRORS as error:
        message = f"The file does not parse: {error}"
        return Problem(NOT_LOADED, "warning", message, Location(document.path, 1, 1, 1, 1))
    return None


def _first_error(document: Document) -> Location:
    """Where tree-sitter gives up, which it knows already."""
    node = document.tree.root_node
    while (inner := next((child for child in node.children if child.has_error), None)) is not None:
        node = inner
    line, column = document.lines.from_bytes(node.start_point.row, node.start_point.column)
    return Location(document.path, line, column, line, column + 1)


def _location(document: Document, error: SyntaxError) -> Location:
    """The place that Python names: at least one character, and within the text."""
    lines = document.lines
    line, column = lines.place(lines.offset(error.lineno or 1, error.offset or 1))
    end = (error.end_lineno or line, error.end_offset or 0)
    end_line, end_column = max(lines.place(lines.offset(*end)), (line, column + 1))
    return Location(document.path, line, column, end_line, end_column)
