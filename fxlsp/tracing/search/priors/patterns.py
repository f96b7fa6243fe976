"""Patterns in which einops names the axes of tensors."""

from __future__ import annotations

import re

Axes = tuple[str, ...]
"""Names or numbers of dimensions, the outermost first."""
PATCHES = re.compile(r"\(\s*\w+\s+\w+\s*\)")
"""An axis that is divided: on the left, ``(h p)``."""


def pattern_axes(pattern: str) -> Axes | None:
    """Return the axes on the left of a pattern of einops; None if their number is not stated.

    Of ``(h p)``, which is divided, the first name.
    """
    left = pattern.partition("->")[0]
    if "..." in left or "*" in left:
        return None
    parts = re.findall(r"\(([^()]*)\)|(\S+)", left)
    axes = tuple(((inner.split() or ["1"])[0] if inner or not single else single) for inner, single in parts)
    return axes if axes and all(re.fullmatch(r"\w+", axis) for axis in axes) else None
