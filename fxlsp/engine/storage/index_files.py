"""The files in which the index keeps what it knows of a workspace folder: JSON, one file for each kind of entry."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeVar

import fxlsp
from fxlsp.engine.storage.user_dirs import cache_folder, folder_digest, write_atomically
from fxlsp.source.models.file_summary import FORMAT

T = TypeVar("T")

_VERSION = f"{fxlsp.__version__}-{FORMAT}"


class IndexFile:
    """One of them. Without a folder to write to, or with one that holds nonsense, it holds nothing."""

    def __init__(self, kind: str, root: str, folder: Path | None = None) -> None:
        """
        Args:
            root: the workspace folder.
            folder: where the file lies, else in the user's cache.
        """
        self._path = (folder or cache_folder()) / f"{kind}-{folder_digest(root)}.json"

    def read(self, entry: Callable[[Any], T]) -> dict[str, T]:
        """What ``entry`` makes of each; it may raise ``KeyError``, ``TypeError`` or ``ValueError`` for nonsense."""
        try:
            with open(self._path, encoding="utf-8") as file:
                data = json.load(file)
            if data["version"] != _VERSION:
                return {}
            return {name: entry(each) for name, each in data["files"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def write(self, entries: Mapping[str, Any]) -> None:
        """Replaces all of them."""
        with contextlib.suppress(OSError):
            write_atomically(self._path, json.dumps({"version": _VERSION, "files": entries}, separators=(",", ":")))
