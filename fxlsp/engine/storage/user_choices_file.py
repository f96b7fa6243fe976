"""File with the user's choices in one workspace folder.

{"version": 1, "folder": "/home/me/project",
 "recipes": {"net.py": {"Net": {"recipe": {...}, "comments": [...]}}},
 "instances": {"net.py": {"Block": {...}}}}
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fxlsp.engine.storage.user_dirs import folder_digest, state_folder, write_atomically

_VERSION = 1
_KINDS = ("recipes", "instances")


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

    Several servers may write it; of one entry the last write counts.
    """

    def __init__(self, root: str, folder: Path | None = None) -> None:
        """
        Args:
            root: path of the workspace folder; "" for files that are in none.
            folder: folder of the file; None is the user's state folder.
        """
        self._root = os.path.realpath(root) if root else ""
        self.path = (folder or state_folder()) / f"choices-{folder_digest(root)}.json"

    def read(self) -> dict[ChoiceKey, Any]:
        """Return all entries; none if there is no file.

        Raises:
            InvalidFileError: the file cannot be read, or is not valid.
        """
        try:
            data = json.loads(self.path.read_text(encoding="utf-8"))
            if data["version"] != _VERSION:
                raise ValueError(f"version {data['version']}")
            return {
                ChoiceKey(kind, file, name): entry
                for kind in _KINDS
                for file, names in data.get(kind, {}).items()
                for name, entry in names.items()
            }
        except FileNotFoundError:
            return {}
        except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise InvalidFileError(f"{type(error).__name__}: {error}") from error

    def write(self, changes: Mapping[ChoiceKey, Any]) -> None:
        """Replace some entries and leave the others as they are in the file.

        Args:
            changes: entries by key; None removes an entry.

        Raises:
            OSError: the file cannot be written.
        """
        try:
            entries = self.read()
        except InvalidFileError:
            entries = {}
        data: dict[str, Any] = {"version": _VERSION, "folder": self._root, **{kind: {} for kind in _KINDS}}
        for key, entry in sorted({**entries, **changes}.items()):
            if entry is not None:
                data[key.kind].setdefault(key.file, {})[key.name] = entry
        write_atomically(self.path, json.dumps(data, indent=1) + "\n")
