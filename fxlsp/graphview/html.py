"""A picture as one HTML file that needs nothing else: no network, no other file."""

from __future__ import annotations

import html
import json
from string import Template
from typing import Any

from fxlsp.graphview.assets import DRAWING, asset, elkjs, elkjs_version, page_palette
from fxlsp.graphview.editor_links import EDITORS
from fxlsp.graphview.picture import Picture

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
