"""Files of a workspace that have nothing to do with torch, remembered by their state on disk: most files are such, and
reading all of them again takes most of the time that a workspace takes which was opened before.

Those that matter are read each time, and known by their content.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from pathlib import Path
from typing import NamedTuple

import fxlsp
from fxlsp.engine.user_folders import cache_folder, folder_digest, write_whole
from fxlsp.source.offers import FORMAT

_VERSION = f"{fxlsp.__version__}-{FORMAT}"
_SETTLED_NS = 2_000_000_000
"""A file that was changed a shorter time ago may be changed again without another time of change: clocks of file
systems tick as slowly as this."""


class State(NamedTuple):
    """What the system tells of a file without reading it; new content changes it, whoever sets a time back."""

    size: int
    changed_ns: int
    """When the user, or whoever wrote it for them, says that its content changed."""
    touched_ns: int
    """When the system last changed anything of it; on Windows when it was made."""

    @classmethod
    def of(cls, told: os.stat_result) -> State:
        return cls(told.st_size, told.st_mtime_ns, told.st_ctime_ns)


class UnrelatedFiles:
    """Of one workspace folder. Without a folder to write to, or with one that holds nonsense, none is known."""

    def __init__(self, root: str, folder: Path | None = None) -> None:
        self._path = (folder or cache_folder()) / f"unrelated-{folder_digest(root)}.json"
        self._known = self._read()
        self._seen: dict[str, tuple[State, frozenset[str]]] = {}

    def imports_of(self, path: str) -> frozenset[str] | None:
        """What a file imports that was unrelated before and is as it was; None for any other."""
        known = self._known.get(path)
        with contextlib.suppress(OSError):
            if known is not None and known[0] == State.of(os.stat(path)):
                self._seen[path] = known
                return known[1]
        return None

    def add(self, path: str, state: State, imports: frozenset[str]) -> None:
        """A file that was read in this state, and names nothing of torch."""
        if time.time_ns() - max(state.changed_ns, state.touched_ns) > _SETTLED_NS:
            self._seen[path] = state, imports

    def write(self) -> None:
        """Keeps what this reading has seen, for the next one."""
        if self._seen == self._known:
            return
        files = {path: [*state, sorted(imports)] for path, (state, imports) in self._seen.items()}
        with contextlib.suppress(OSError, UnicodeEncodeError):
            write_whole(self._path, json.dumps({"version": _VERSION, "files": files}, separators=(",", ":")))

    def _read(self) -> dict[str, tuple[State, frozenset[str]]]:
        try:
            with open(self._path, encoding="utf-8") as file:
                data = json.load(file)
            if data["version"] != _VERSION:
                return {}
            return {
                path: (State(int(size), int(changed), int(touched)), frozenset(imports))
                for path, (size, changed, touched, imports) in data["files"].items()
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}
