"""A picture as one HTML file that needs nothing else: no network, no other file."""

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
"""What a page and an SVG file have in common, in the order in which they need each other."""

_VARIABLE = re.compile(r"var\(--([\w-]+)\)")

_SCRIPTS = (
    *(*DRAWING, "worker.js", "host.js", "view.js"),
    *("search.js", "details.js", "theme.js", "main.js"),
)


def page_of_picture(picture: Picture, *, link: str = EDITORS["vscode"], depth: int | None = None) -> str:
    """The text of the page.

    Args:
        link: the address that opens a line, by :func:`~fxlsp.graphview.editor_links.link_template`; "" for none.
        depth: how far boxes are open at first, 0 for the root alone; None for as far as can be taken in at once.
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
    """JSON that nothing in it can end the ``<script>`` around."""
    return json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")


@cache
def asset(name: str) -> str:
    """The text of a file of the page."""
    return (_FOLDER / "page" / name).read_text(encoding="utf-8")


@cache
def elkjs() -> str:
    """elkjs's layout as a script, for a worker or an engine."""
    return (_ELKJS / "elk-worker.min.js").read_text(encoding="utf-8")


def elkjs_version() -> str:
    """Of the elkjs that is used."""
    return str(json.loads((_ELKJS / "package.json").read_text(encoding="utf-8"))["version"])


def page_palette() -> str:
    """The colours as variables of CSS: light, and dark once the page says so."""
    palettes = _palettes()
    light = f":root {{ color-scheme: light; {_variables(palettes['light'])} }}"
    return f'{light}\n:root[data-theme="dark"] {{ color-scheme: dark; {_variables(palettes["dark"])} }}'


def file_style() -> str:
    """The style of a file by itself: colours stand in it, since not every viewer knows variables."""
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
