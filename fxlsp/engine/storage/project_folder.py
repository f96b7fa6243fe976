"""Folder of the project around a path."""

from __future__ import annotations

import os
from pathlib import Path

_MARKERS = ("pyproject.toml", "setup.py", "setup.cfg", ".git")


def marked_folder(path: str) -> str | None:
    """Return the nearest folder above ``path`` that looks like a project's."""
    parents = map(str, Path(path).parents)
    return next((folder for folder in parents if any(os.path.exists(os.path.join(folder, m)) for m in _MARKERS)), None)
