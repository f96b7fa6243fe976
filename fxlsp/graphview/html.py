"""A picture as one HTML file that loads nothing: no network, no other file."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from string import Template
from typing import Any

from fxlsp.graphview.editor_links import EDITORS
from fxlsp.graphview.picture import Picture

_FOLDER = Path(__file__).parent
_ELKJS = _FOLDER / "elkjs"

DRAWING = ("tree.js", "layout.js", "drawing.js", "elk.js")
"""Scripts that a page and an SVG file share, in the order of their dependencies."""

_VARIABLE = re.compile(r"var\(--([\w-]+)\)")

_SCRIPTS = (
    *(*DRAWING, "worker.js", "host.js", "view.js"),
    *("search.js", "details.js", "theme.js", "main.js"),
)


def page_of_picture(picture: Picture, *, link: str = EDITORS["vscode"], depth: int | None = None) -> str:
    """Return the text of the page.

    Args:
        link: the address that opens a line, from :func:`~fxlsp.graphview.editor_links.link_template`; "" for none.
        depth: how many levels of boxes are open at first, 0 for the root alone; None for as many as fit on a screen.
    """
    return Template(asset("page.html")).substitute(
        title=html.escape(picture["title"]),
        palette=page_palette(),
        drawing_css=asset("drawing.css"),
        page_css=asset("page.css"),
        picture=script_data({**picture, "link": link, "depth": depth}),
        elkjs=elkjs(),
        elkjs_version=elkjs_version(),
        scripts="\n".join(f"<script>\n{asset(name)}</script>" for name in _SCRIPTS),
    )


def script_data(data: Any) -> str:
    """Return JSON that cannot end the ``<script>`` element around it."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


@cache
def asset(name: str) -> str:
    """Return the text of a file of the page."""
    return (_FOLDER / "page" / name).read_text(encoding="utf-8")


@cache
def elkjs() -> str:
    """Return elkjs's layout as a script, for a worker or an embedded engine."""
    return (_ELKJS / "elk-worker.min.js").read_text(encoding="utf-8")


def elkjs_version() -> str:
    """Return the version of the elkjs that is used."""
    return str(json.loads((_ELKJS / "package.json").read_text(encoding="utf-8"))["version"])


def page_palette() -> str:
    """Return the colours as CSS variables: light, and dark if the page selects it."""
    palettes = _palettes()
    light = f":root {{ color-scheme: light; {_variables(palettes['light'])} }}"
    return f'{light}\n:root[data-theme="dark"] {{ color-scheme: dark; {_variables(palettes["dark"])} }}'


def file_style() -> str:
    """Return the style of an SVG file.

    Colours are written out, because not every viewer supports variables.
    """
    rules, palettes = asset("drawing.css"), _palettes()
    light, dark = (_filled_in(rules, palettes[name]) for name in ("light", "dark"))
    return f"{light}\n@media (prefers-color-scheme: dark) {{\n{dark}}}"


def _palettes() -> Mapping[str, Mapping[str, str]]:
    palettes: Mapping[str, Mapping[str, str]] = json.loads(asset("palette.json"))
    return palettes


def _variables(palette: Mapping[str, str]) -> str:
    return " ".join(f"--{name}: {colour};" for name, colour in palette.items())


def _filled_in(rules: str, palette: Mapping[str, str]) -> str:
    return _VARIABLE.sub(lambda match: palette[match[1]], rules)
