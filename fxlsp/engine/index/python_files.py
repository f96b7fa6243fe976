"""The Python files of a folder that somebody wrote there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

_SKIPPED_FOLDERS = frozenset({"__pycache__", "build", "dist", "node_modules", "site-packages", "venv"})
"""Folders that hold what was installed or made; those whose name starts with a dot are left out too."""


IsStopped = Callable[[], bool]
"""Asked from time to time by whoever reads many files."""


class StoppedError(Exception):
    """The files are no longer wanted."""


def never_stop() -> bool:
    """For whoever is waited for until the end."""
    return False


IsExcluded = Callable[[str], bool]
"""Called with the real path of a file, or of a folder, with a separator at its end, for all that is in it."""


def exclude_nothing(_: str) -> bool:
    """For whoever leaves nothing out."""
    return False


def files_below(
    folder: str, suffixes: tuple[str, ...], is_stopped: IsStopped, is_excluded: IsExcluded = exclude_nothing
) -> Iterator[str]:
    """Paths of the files whose names end so, at any depth, in a stable order, but for excluded ones.

    Raises:
        StoppedError: ``is_stopped`` said so.
    """
    for parent, folders, names in os.walk(folder):
        real = os.path.realpath(parent)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        folders[:] = [name for name in folders if not is_excluded(os.path.join(real, name, ""))]
        for name in sorted(names):
            if is_stopped():
                raise StoppedError
            path = os.path.join(parent, name)
            # What only has the name of a file, such as a pipe, may never be read to its end.
            if name.endswith(suffixes) and not is_excluded(os.path.join(real, name)) and os.path.isfile(path):
                yield path
