"""Cache of the files that do not concern torch, identified by state on disk.

Most files do not, and reading all of them again takes most of the time of opening a workspace that was opened before.
Files that do concern torch are read each time and identified by their content.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

from fxlsp.engine.storage.index_files import IndexFile

_CLOCK_TICK_NS = 2_000_000_000
"""A file changed more recently than this may change again without a new time of change: clocks of file systems tick as
slowly as this."""


class FileState(NamedTuple):
    """What the operating system reports of a file without reading it.

    New content changes it, even content of the same size with the time of modification set back; on Windows not in that
    last case.
    """

    size: int
    changed_ns: int
    """Time of modification, which a program can set."""
    touched_ns: int
    """Time of the last change of content or metadata, which only the system sets; on Windows the time of creation."""

    @classmethod
    def of(cls, status: os.stat_result) -> FileState:
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns)

    @property
    def is_settled(self) -> bool:
        """Whether any later change of the file will give it another state."""
        return time.time_ns() - max(self.changed_ns, self.touched_ns) > _CLOCK_TICK_NS


class SkipCache:
    """Skip cache of one workspace folder."""

    def __init__(self, root: str, folder: Path | None = None) -> None:
        self._file = IndexFile("unrelated", root, folder)
        self._known = self._file.read(_entry)
        self._checked: dict[str, tuple[FileState, frozenset[str]]] = {}

    def imports_of(self, path: str) -> frozenset[str] | None:
        """Return what an unchanged file of the cache imports; None for other files."""
        known = self._known.get(path)
        with contextlib.suppress(OSError):
            if known is not None and known[0] == FileState.of(os.stat(path)):
                self._checked[path] = known
                return known[1]
        return None

    def add(self, path: str, state: FileState, imports: frozenset[str]) -> None:
        """Add a file that was read in this state and names nothing of torch."""
        if state.is_settled:
            self._checked[path] = state, imports

    def write(self) -> None:
        """Write the files that this scan found or added."""
        if self._checked != self._known:
            self._file.write({path: [*state, sorted(imports)] for path, (state, imports) in self._checked.items()})


def _entry(data: Any) -> tuple[FileState, frozenset[str]]:
    size, changed, touched, imports = data
    return FileState(int(size), int(changed), int(touched)), frozenset(imports)
