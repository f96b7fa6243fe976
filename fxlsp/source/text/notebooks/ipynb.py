"""Jupyter notebooks as they stand on disk (nbformat 4, and 3 as far as it is alike)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from fxlsp.source.text.notebooks.cells import Cell, Cells

SUFFIX = ".ipynb"


def is_notebook(path: str) -> bool:
    return path.endswith(SUFFIX)


def read_cells(path: str) -> Cells:
    """The cells of a notebook file; markdown among them, blank, so that they count.

    Raises:
        OSError: it cannot be read.
        UnicodeDecodeError, SyntaxError: it is no notebook.
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
    """A notebook that names no language is taken for one of Python."""
    info, kernel = metadata.get("language_info") or {}, metadata.get("kernelspec") or {}
    language = str(info.get("name") or kernel.get("language") or "python").lower()
    return language in ("python", "ipython")


def _is_of_its_language(cell: dict[str, Any]) -> bool:
    """VS Code notes the language of a cell that has one of its own."""
    editor = (cell.get("metadata") or {}).get("vscode") or {}
    return str(editor.get("languageId", "python")) == "python"
