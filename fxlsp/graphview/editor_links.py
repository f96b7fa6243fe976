"""Addresses that open a line in an editor."""

from __future__ import annotations

from string import Formatter

EDITORS = {
    "vscode": "vscode://file{file}:{line}:{column}",
    "cursor": "cursor://file{file}:{line}:{column}",
    "vscodium": "vscodium://file{file}:{line}:{column}",
    "zed": "zed://file{file}:{line}:{column}",
    "pycharm": "pycharm://open?file={file}&line={line}&column={column}",
    "none": "",
}
"""By the name of the editor; ``{file}`` is an absolute path with its slash, lines and columns count from 1."""

_FIELDS = {"file", "line", "column"}


def link_template(text: str) -> str:
    """Return the template that ``text`` names or is.

    Raises:
        ValueError: it is neither an editor's name nor an address with ``{file}`` in it.
    """
    if text in EDITORS:
        return EDITORS[text]
    fields = {field for _, field, _, _ in Formatter().parse(text) if field is not None}
    scheme, colon, _ = text.partition(":")
    if not colon or not scheme.replace("-", "").isalnum() or "file" not in fields or not fields <= _FIELDS:
        names = ", ".join(EDITORS)
        raise ValueError(f"'{text}' is neither one of {names} nor an address with {{file}}, {{line}} and {{column}}")
    if scheme.lower() in ("javascript", "data"):
        raise ValueError(f"an address that runs code opens no editor: '{text}'")
    return text
