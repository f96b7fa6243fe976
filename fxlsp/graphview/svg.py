"""A picture as an SVG file, laid out and drawn by the page's scripts.

They run in an embedded JavaScript engine from a wheel.
"""

from __future__ import annotations

import json
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from fxlsp.graphview.html import DRAWING, asset, elkjs, file_style
from fxlsp.graphview.picture import Picture

_PACKAGE = "py_mini_racer"
_SECONDS = 120.0
_AS_NODE = "globalThis.global = globalThis; globalThis.module = {exports: {}}; globalThis.exports = module.exports;"
"""elkjs exports its version without a worker only if there is a module to export to."""


class SvgError(Exception):
    """The engine is missing or fails; the message says what to do."""


def require_engine() -> None:
    """Check that a JavaScript engine is installed.

    Raises:
        SvgError: none is installed.
    """
    if find_spec(_PACKAGE) is None:
        raise SvgError("SVG needs an engine for JavaScript: pip install 'fxlsp[svg]', or write an .html page")


def svg_of_picture(picture: Picture, *, depth: int | None = None) -> str:
    """Return the text of the file.

    Args:
        depth: how many levels of boxes are open, 0 for the root alone; None opens all.

    Raises:
        SvgError: no engine is installed, or the layout fails.
    """
    require_engine()
    engine: Any = import_module(_PACKAGE)
    context = engine.MiniRacer()
    context.eval(_AS_NODE)
    context.eval(elkjs())
    context.eval("\n".join(asset(name) for name in (*DRAWING, "file.js")))
    arguments = ", ".join(json.dumps(each) for each in (picture, file_style()))
    depth_text = json.dumps(depth)
    promise = context.eval(f"svgOf({arguments}, elkInPlace(module.exports.Worker), {depth_text})")
    try:
        return str(promise.get(timeout=_SECONDS))
    except engine.JSPromiseError as error:
        raise SvgError(f"the layout failed: {error}") from error
    finally:
        context.close()
