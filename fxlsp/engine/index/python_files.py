"""The Python files of a folder, without installed and generated ones."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

_SKIPPED_FOLDERS = frozenset({"__pycache__", "build", "dist", "node_modules", "site-packages", "venv"})
"""Folders of installed or generated files; folders whose name starts with a dot are skipped too."""


IsStopped = Callable[[], bool]
"""Called from time to time while many files are read; True stops the reading."""


class StoppedError(Exception):
    """Error for a reading that was stopped before its end."""


def never_stop() -> bool:
    """Return False: an ``IsStopped`` for readings that always run to the end."""
    return False


IsExcluded = Callable[[str], bool]
"""Called with a real path; that of a folder ends with a separator and stands for everything in the folder."""


def exclude_nothing(_: str) -> bool:
    """Return False: an ``IsExcluded`` that leaves nothing out."""
    return False


def files_below(
    folder: str, suffixes: tuple[str, ...], is_stopped: IsStopped, is_excluded: IsExcluded = exclude_nothing
) -> Iterator[str]:
    """Yield the paths of files with these suffixes at any depth, in a stable order.

    Excluded files are left out.

    Raises:
        StoppedError: ``is_stopped`` returned True.
    """
    for parent, folders, names in os.walk(folder):
        real = os.path.realpath(parent)
        folders[:] = sorted(name for name in folders if not name.startswith(".") and name not in _SKIPPED_FOLDERS)
        folders[:] = [name for name in folders if not is_excluded(os.path.join(real, name, ""))]
        for name in sorted(names):
            if is_stopped():
                raise StoppedError
            path = os.path.join(parent, name)
            # Reading a pipe or device to its end may never return.
            if name.endswith(suffixes) and not is_excluded(os.path.join(real, name)) and os.path.isfile(path):
                yield path
