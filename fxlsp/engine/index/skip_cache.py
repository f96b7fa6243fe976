"""Files of a workspace that have nothing to do with torch, remembered by their state on disk: most files are such, and
reading all of them again takes most of the time that a workspace takes which was opened before.

Those that matter are read each time, and known by their content.
"""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path
from typing import Any, NamedTuple

from fxlsp.engine.storage.index_files import IndexFile

_CLOCK_TICK_NS = 2_000_000_000
"""A file that was changed a shorter time ago may be changed again without another time of change: clocks of file
systems tick as slowly as this."""


class FileState(NamedTuple):
    """What the system tells of a file without reading it.

    New content changes it, even of the same size and with the time set back; on Windows not in that case.
    """

    size: int
    changed_ns: int
    """When the user, or whoever wrote it for them, says that its content changed."""
    touched_ns: int
    """When the system last changed anything of it; on Windows when it was made."""

    @classmethod
    def of(cls, status: os.stat_result) -> FileState:
        return cls(status.st_size, status.st_mtime_ns, status.st_ctime_ns)


class SkipCache:
    """Of one workspace folder."""

    def __init__(self, root: str, folder: Path | None = None) -> None:
        self._file = IndexFile("unrelated", root, folder)
        self._known = self._file.read(_entry)
        self._checked: dict[str, tuple[FileState, frozenset[str]]] = {}

    def imports_of(self, path: str) -> frozenset[str] | None:
        """What a file imports that was unrelated before and is as it was; None for any other."""
        known = self._known.get(path)
        with contextlib.suppress(OSError):
            if known is not None and known[0] == FileState.of(os.stat(path)):
                self._checked[path] = known
                return known[1]
        return None

    def add(self, path: str, state: FileState, imports: frozenset[str]) -> None:
        """A file that was read in this state, and names nothing of torch."""
        if time.time_ns() - max(state.changed_ns, state.touched_ns) > _CLOCK_TICK_NS:
            self._checked[path] = state, imports

    def write(self) -> None:
        """Keeps what this reading has seen, for the next one."""
        if self._checked != self._known:
            self._file.write({path: [*state, sorted(imports)] for path, (state, imports) in self._checked.items()})


def _entry(data: Any) -> tuple[FileState, frozenset[str]]:
    size, changed, touched, imports = data
    return FileState(int(size), int(changed), int(touched)), frozenset(imports)
