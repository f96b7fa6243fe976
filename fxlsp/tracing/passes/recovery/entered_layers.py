"""Layers of torch.nn inside which torch.fx fails, and why it enters them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable

import torch

from ...model.capture.tracer import TracedCall
from ...model.locations.bytecode.instructions import walk_out
from ...model.locations.source_map import SourceMap

_LAYERS = os.path.join(os.path.dirname(os.path.abspath(torch.nn.__file__)), "modules", "")
_NO_LAYERS = frozenset(os.path.join(_LAYERS, name) for name in ("module.py", "container.py"))
"""Files with what calls any module, and with containers, which are entered by design."""


def inside_of(places: SourceMap, calls: Iterable[TracedCall]) -> str:
    """Return a line about the layer of torch.nn whose code is running, and why torch.fx enters it; "" for other code.

    Args:
        places: the source map of the traced code.
        calls: the calls of modules that were traced so far.
    """
    layer = _running_layer(places)
    if layer is None:
        return ""
    kind = next(each for each in type(layer).__mro__ if _is_of_torch(each))
    what = f"This is inside torch's own {kind.__name__}"
    if kind is not type(layer):
        own = type(layer).__name__
        return f"{what}, which torch.fx enters because {own} is a subclass of it: only torch's own layers are one node."
    if any(call.module is layer and call.call_stack for call in calls):
        return f"{what}, which the tracer enters because its is_leaf_module does not take it for one node."
    if any(call.module is layer for call in calls):
        return f"{what}, which torch.fx enters because it is the model that is traced."
    return f"{what}, which torch.fx enters because its forward is called here, and not the layer."


def _running_layer(places: SourceMap) -> torch.nn.Module | None:
    """Return the innermost layer whose method torch defines, if that is what the user's innermost line calls."""
    for frame in walk_out(sys._getframe(1)):
        file = frame.f_code.co_filename
        if places.is_shown(file):
            return None
        if file.startswith(_LAYERS) and file not in _NO_LAYERS:
            layer = frame.f_locals.get("self")
            if isinstance(layer, torch.nn.Module):
                return layer
    return None


def _is_of_torch(kind: type) -> bool:
    return kind.__module__.startswith("torch.nn.")
