"""Notebooks on the command line: read as one text each, reported by their cells."""

from __future__ import annotations

from dataclasses import fields, is_dataclass, replace
from functools import lru_cache
from typing import TypeVar

from fxlsp.report.locations import Location
from fxlsp.source.text.documents import read_document
from fxlsp.source.text.notebooks.cells import Cells
from fxlsp.source.text.notebooks.ipynb import is_notebook, read_cells

T = TypeVar("T")


def overlays_of(path: str | None) -> dict[str, str]:
    """Return the text that the tracing process reads in place of a notebook.

    A notebook is not Python. Empty for other files.

    Raises:
        OSError, UnicodeDecodeError, SyntaxError: it cannot be read.
    """
    return {path: read_document(path).program.text} if path is not None and is_notebook(path) else {}


def in_cells(value: T) -> T:
    """Return a report, or a part of one, with notebook locations as those of cells."""
    if isinstance(value, Location):
        cells = _cells_of(value.file) if value.cell is None and is_notebook(value.file) else None
        return value if cells is None else cells.cell_location(value)  # type: ignore[return-value]
    if isinstance(value, (tuple, list)):
        return type(value)(map(in_cells, value))
    if is_dataclass(value) and not isinstance(value, type):
        before = {field.name: getattr(value, field.name) for field in fields(value)}
        after = {name: in_cells(part) for name, part in before.items()}
        return replace(value, **{name: part for name, part in after.items() if part is not before[name]})
    return value


@lru_cache(maxsize=16)
def _cells_of(path: str) -> Cells | None:
    try:
        return read_cells(path)
    except (OSError, UnicodeDecodeError, SyntaxError):
        return None
