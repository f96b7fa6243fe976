"""File with the user's choices in one workspace folder.

{"version": 1, "folder": "/home/me/project",
 "recipes": {"net.py": {"Net": {"recipe": {...}, "comments": [...]}}},
 "instances": {"net.py": {"Block": {...}}}}
"""

from __future__ import annotations

import contextlib
import json
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fxlsp.engine.storage.folder_lock import folder_lock
from fxlsp.engine.storage.user_dirs import folder_digest, state_folder, write_atomically

_VERSION = 1
_KINDS = ("recipes", "instances")
_MOST_BYTES = 2**26
"""A larger file was not written by fxlsp, and is not read into memory."""

_log = logging.getLogger("fxlsp.engine")


class ChoiceKey(NamedTuple):
    """Kind and model of a choice."""

    kind: str
    """``recipes`` or ``instances``."""
    file: str
    """Path relative to the folder; absolute for a file outside the folder."""
    name: str
    """Qualified name of a model in that file: ``Outer.Inner``."""

    def path(self, folder: str) -> str:
        """Return the absolute path of the file."""
        return os.path.join(folder, self.file)


class InvalidFileError(Exception):
    """Error for a file that cannot be read or that fxlsp did not write."""


class UserChoicesFile:
    """File of the choices in one workspace folder.

    Several servers may write it; of one entry the last write counts. Beside it the file before the last change is kept:
    it counts where the file itself is damaged. A damaged file is kept too when it is replaced.
    """

    def __init__(self, root: str, folder: Path | None = None) -> None:
        """
        Args:
            root: path of the workspace folder; "" for files that are in none.
            folder: folder of the file; None is the user's state folder.
        """
        self._root = os.path.realpath(root) if root else ""
        self.path = (folder or state_folder()) / f"choices-{folder_digest(root)}.json"
        self._previous = self.path.with_suffix(".previous")
        self._damaged = self.path.with_suffix(".damaged")

    def read(self) -> dict[ChoiceKey, Any]:
        """Return all entries; none if there is no file.

        Raises:
            InvalidFileError: the file cannot be read, or is not valid and there is none from before.
        """
        try:
            return _entries(self.path)
        except (FileNotFoundError, NotADirectoryError):
            return {}
        except OSError as error:
            raise InvalidFileError(_words(error)) from error
        except _NotValidError as error:
            try:
                entries = _entries(self._previous)
            except (OSError, _NotValidError):
                raise InvalidFileError(str(error)) from error
            _log.warning("%s is damaged (%s): what was chosen before the last change counts", self.path, error)
            return entries

    def write(self, changes: Mapping[ChoiceKey, Any]) -> None:
        """Replace some entries and leave the others as they are in the file.

        Args:
            changes: entries by key; None removes an entry.

        Raises:
            OSError: the file cannot be written, or what is in it cannot be read.
        """
        with folder_lock(self.path.parent):
            entries, is_damaged = self._entries_to_keep()
            if changes and not is_damaged and all(entries.get(key) == entry for key, entry in changes.items()):
                return
            data: dict[str, Any] = {"version": _VERSION, "folder": self._root, **{kind: {} for kind in _KINDS}}
            for key, entry in sorted({**entries, **changes}.items(), key=lambda each: each[0]):
                if entry is not None:
                    data[key.kind].setdefault(key.file, {})[key.name] = entry
            previous = self._damaged if is_damaged else self._previous
            write_atomically(self.path, json.dumps(data, indent=1) + "\n", durable=True, previous=previous)

    def _entries_to_keep(self) -> tuple[dict[ChoiceKey, Any], bool]:
        """Return the entries of the file, and whether it is damaged."""
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            try:
                return _entries(self.path), False
            except _NotValidError:
                with contextlib.suppress(OSError, _NotValidError):
                    return _entries(self._previous), True
                return {}, True
        return {}, False


class _NotValidError(Exception):
    """Content that fxlsp did not write; the message says how that shows."""


def _entries(path: Path) -> dict[ChoiceKey, Any]:
    """Return the entries of a file.

    Raises:
        OSError: it cannot be read.
        _NotValidError: it holds something else.
    """
    if path.stat().st_size > _MOST_BYTES:
        raise _NotValidError(f"it has more than {_MOST_BYTES} bytes")
    try:
        data = json.loads(path.read_bytes().decode("utf-8"))
        if type(data["version"]) is not int or data["version"] != _VERSION:
            raise ValueError(f"version {data['version']}")
        return {
            ChoiceKey(kind, file, name): entry
            for kind in _KINDS
            for file, names in data.get(kind, {}).items()
            for name, entry in names.items()
        }
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise _NotValidError(_words(error)) from error


def _words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}"
