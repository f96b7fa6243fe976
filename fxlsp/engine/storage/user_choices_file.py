"""What the user chose in one workspace folder, in a file that outlives the session.

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
    """What a choice is about."""

    kind: str
    """``recipes`` or ``instances``."""
    file: str
    """Path from the folder; absolute for a file that lies outside."""
    name: str
    """Of a model in it: ``Outer.Inner``."""

    def path(self, folder: str) -> str:
        """The absolute path of the file."""
        return os.path.join(folder, self.file)


class InvalidFileError(Exception):
    """The file is not as fxlsp writes it, or cannot be read."""


class UserChoicesFile:
    """Several servers may write it: of one entry the last one counts."""

    def __init__(self, root: str, folder: Path | None = None) -> None:
        """
        Args:
            root: of the workspace folder; "" for files that lie in none.
            folder: instead of the user's.
        """
        self._root = os.path.realpath(root) if root else ""
        self.path = (folder or state_folder()) / f"choices-{folder_digest(root)}.json"

    def read(self) -> dict[ChoiceKey, Any]:
        """Every entry as it stands; none if there is no file.

        Raises:
            BrokenFileError: nobody can tell what it says.
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
        """Replaces some entries, those of others as they are now; None removes one.

        Raises:
            OSError: there is no place for it.
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
