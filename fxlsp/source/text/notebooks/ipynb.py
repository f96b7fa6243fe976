"""Jupyter notebook files (nbformat 4, and 3 as far as it has the same structure)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fxlsp.source.text.notebooks.cells import Cell, Cells

SUFFIX = ".ipynb"


def is_notebook(path: str) -> bool:
    """Return whether a path has the suffix of a notebook."""
    return path.endswith(SUFFIX)


def read_cells(path: str) -> Cells:
    """Read the cells of a notebook file.

    Cells of Markdown are among them, as blank ones, so that the numbers of cells are those of the file.

    Raises:
        OSError: the file cannot be read.
        UnicodeDecodeError, SyntaxError: it is not a notebook.
    """
    with open(path, encoding="utf-8-sig") as file:
        text = file.read()
    try:
        notebook = json.loads(text)
        return Cells(_cells(notebook, _is_python(notebook.get("metadata") or {})))
    except (ValueError, TypeError, AttributeError, KeyError, RecursionError) as error:
        raise SyntaxError(f"it is not a Jupyter notebook: {error}") from error


def _cells(notebook: dict[str, Any], is_python: bool) -> Iterator[Cell]:
    sheets = notebook.get("worksheets", [notebook])
    for sheet in sheets:
        for cell in sheet["cells"]:
            source = cell.get("source", cell.get("input", ""))
            text = source if isinstance(source, str) else "".join(source)
            yield Cell("", None, text, is_python and _is_of_its_language(cell), cell["cell_type"] == "code")


def _is_python(metadata: dict[str, Any]) -> bool:
    """Return whether a notebook is one of Python, which is the default language."""
    info, kernel = metadata.get("language_info") or {}, metadata.get("kernelspec") or {}
    language = str(info.get("name") or kernel.get("language") or "python").lower()
    return language in ("python", "ipython")


def _is_of_its_language(cell: dict[str, Any]) -> bool:
    """Return whether a cell is Python; VS Code stores another language in it."""
    editor = (cell.get("metadata") or {}).get("vscode") or {}
    return str(editor.get("languageId", "python")) == "python"
