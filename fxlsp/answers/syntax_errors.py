"""Where a text stops being Python."""

from __future__ import annotations

from fxlsp.report.codes import NOT_LOADED
from fxlsp.report.places import Location
from fxlsp.report.problems import Problem
from fxlsp.source.documents import Document
from fxlsp.source.python_syntax import SYNTAX_ERRORS, parsed_module


def syntax_problem(document: Document) -> Problem | None:
    """Why the text cannot be traced as it stands; None if it parses."""
    return None if document.parses else document.derive(_find)


_SHORT_TEXT = 20_000
"""Characters; Python's parser takes some milliseconds for as many, at each key while the error lasts."""


def _find(document: Document) -> Problem | None:
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
