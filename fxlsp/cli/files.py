"""Which files ``fxlsp check`` looks at."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from fxlsp.cli.exits import UsageError

_NOT_OURS = frozenset({"__pycache__", "build", "dist", "node_modules", "site-packages", "venv"})
"""Folders that hold what was installed or made; those whose name starts with a dot are left out too."""


def python_files(paths: Sequence[str]) -> Iterator[str]:
    """Real paths of the Python files at and below ``paths``, each once; a file named in ``paths`` always counts.

    Raises:
        UsageError: a path does not exist.
    """
    seen: set[str] = set()
    for path in paths:
        if not os.path.exists(path):
            raise UsageError(f"there is no file or folder {path}")
        for found in _below(path) if os.path.isdir(path) else [path]:
            real = os.path.realpath(found)
            if real not in seen:
                seen.add(real)
                yield real


def _below(folder: str) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _NOT_OURS)
        yield from (os.path.join(parent, name) for name in sorted(names) if name.endswith(".py"))
