"""Cache files of the index of a workspace folder: JSON, one per kind of entry."""

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
    """One cache file of the index, with its entries by file or by content.

    If there is no folder to write to, or the file is not valid, it has no entries.
    """

    def __init__(self, kind: str, root: str, folder: Path | None = None) -> None:
        """
        Args:
            kind: first part of the name of the file.
            root: path of the workspace folder.
            folder: folder of the file; None is the user's cache folder.
        """
        self._path = (folder or cache_folder()) / f"{kind}-{folder_digest(root)}.json"

    def read(self, entry: Callable[[Any], T]) -> dict[str, T]:
        """Return the entries, each as ``entry`` converts it from JSON.

        ``entry`` may raise ``KeyError``, ``TypeError`` or ``ValueError`` for an entry that is not valid; the result is
        then empty.
        """
        try:
            with open(self._path, encoding="utf-8") as file:
                data = json.load(file)
            if data["version"] != _VERSION:
                return {}
            return {name: entry(each) for name, each in data["files"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def write(self, entries: Mapping[str, Any]) -> None:
        """Replace all entries. An error of the file system is ignored."""
        with contextlib.suppress(OSError):
            write_atomically(self._path, json.dumps({"version": _VERSION, "files": entries}, separators=(",", ":")))
