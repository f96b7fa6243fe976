"""Cache files of the index of a workspace folder: JSON, one per kind of entry.

{"version": "0.1.0-2", "digest": "...", "files": {...}}

The digest is that of the text of the entries: what was damaged, cut short or edited is computed anew, whatever it looks
like.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any, TypeVar

import fxlsp
from fxlsp.engine.storage.user_dirs import cache_folder, folder_digest, write_atomically
from fxlsp.source.models.file_summary import FORMAT

T = TypeVar("T")

_VERSION = f"{fxlsp.__version__}-{FORMAT}"
_MOST_BYTES = 2**29
"""A larger file was not written by fxlsp, and is not read into memory."""


class IndexFile:
    """One cache file of the index, with its entries by file or by content.

    If there is no folder to write to, or the file is not as it was written, it has no entries.
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
            if self._path.stat().st_size > _MOST_BYTES:
                return {}
            text = self._path.read_text(encoding="utf-8")
            start = text.index(_ENTRIES) + len(_ENTRIES)
            entries = text[start:-1]
            if text != _written(entries):
                return {}
            return {name: entry(each) for name, each in json.loads(entries).items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError, OverflowError, MemoryError):
            return {}

    def write(self, entries: Mapping[str, Any]) -> None:
        """Replace all entries. An error of the file system is ignored."""
        with contextlib.suppress(OSError):
            write_atomically(self._path, _written(json.dumps(entries, separators=(",", ":"))))


_ENTRIES = '"files":'


def _written(entries: str) -> str:
    """Return the content of a file with these entries, which are JSON."""
    digest = blake2b(entries.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return f'{{"version":{json.dumps(_VERSION)},"digest":"{digest}",{_ENTRIES}{entries}}}'
