"""The Python files of a folder that somebody wrote there."""

from __future__ import annotations

import os
from collections.abc import Iterator

_NOT_OURS = frozenset({"__pycache__", "build", "dist", "node_modules", "site-packages", "venv"})
"""Folders that hold what was installed or made; those whose name starts with a dot are left out too."""


def python_files_below(folder: str) -> Iterator[str]:
    """Paths of the files at any depth, in a stable order."""
    return files_below(folder, (".py",))


def files_below(folder: str, suffixes: tuple[str, ...]) -> Iterator[str]:
    """Paths of the files whose names end so, at any depth, in a stable order."""
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_OURS)
        yield from (os.path.join(parent, name) for name in sorted(names) if name.endswith(suffixes))
