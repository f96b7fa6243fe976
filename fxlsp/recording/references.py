"""Names by which classes and functions can be imported again, and where workspace files are."""

from __future__ import annotations

import os
import sys
from typing import Any

from .recording_file import MOST_FOLDERS, is_folder_of_workspace

_INSTALLED = frozenset({"site-packages", "dist-packages", "node_modules"})
_OTHER_HOMES = ("torch", "torch.nn.functional", "math", "operator", "builtins")
"""Modules that may hold a function which does not know its own module, such as ``torch.relu``."""
_MOST_PARTS = 8


class RecordedFolder:
    """Folder whose classes are recorded."""

    def __init__(self, folder: str) -> None:
        self.folder = os.path.realpath(folder)
        self._import_folders: tuple[list[object], tuple[str, ...]] = ([], ())
        """What ``sys.path`` was last, and the folders of the workspace in it."""

    def path_of(self, file: object) -> str | None:
        """Return the path of a file relative to the folder, with ``/``; None for one outside or installed in it."""
        if not isinstance(file, str) or not file or file.startswith("<"):
            return None
        real = os.path.realpath(file)
        if not real.startswith(os.path.join(self.folder, "")):
            return None
        parts = os.path.relpath(real, self.folder).split(os.sep)
        return None if _INSTALLED & set(parts) else "/".join(parts)

    def import_folders(self) -> tuple[str, ...]:
        """Return the folders of the workspace in ``sys.path``, relative to it, without those of an installation."""
        entries: list[object] = [*sys.path]
        if entries != self._import_folders[0]:
            found = map(self._import_folder, entries)
            folders = tuple(dict.fromkeys(each for each in found if each is not None))
            self._import_folders = entries, folders[:MOST_FOLDERS]
        return self._import_folders[1]

    def _import_folder(self, entry: object) -> str | None:
        # Python passes over what is no text.
        if not isinstance(entry, str) or "\0" in entry:
            return None
        try:
            real = os.path.realpath(entry or os.curdir)
        except OSError:
            # The working directory is gone.
            return None
        if real == self.folder:
            return "."
        prefixes = map(os.path.realpath, (sys.prefix, sys.base_prefix))
        inner = [os.path.join(each, "") for each in prefixes if each.startswith(os.path.join(self.folder, ""))]
        is_installed = os.path.join(real, "").startswith(tuple(inner))
        path = None if is_installed or not os.path.isdir(real) else self.path_of(real)
        return path if is_folder_of_workspace(path) else None

    def file_of(self, defined: Any) -> str | None:
        """Return the relative path of the file that defines a class or function; None if it is not of the workspace."""
        module = sys.modules.get(_text(getattr(defined, "__module__", None)))
        return self.path_of(getattr(module, "__file__", None))

    def reference(self, defined: Any) -> dict[str, Any] | None:
        """Return how a class or function is imported; None if no import returns it, as for a lambda."""
        name = _text(getattr(defined, "__qualname__", None)) or _text(getattr(defined, "__name__", None))
        if not name or len(name.split(".")) > _MOST_PARTS or not all(part.isidentifier() for part in name.split(".")):
            return None
        for home in (_text(getattr(defined, "__module__", None)), *_OTHER_HOMES):
            # A builtin function of torch is qualified by the C type that holds it.
            for candidate in dict.fromkeys((name, name.rpartition(".")[2])):
                if home and _found(home, candidate) is defined:
                    return self._reference(home, candidate)
        return None

    def _reference(self, home: str, name: str) -> dict[str, Any] | None:
        file = self.path_of(getattr(sys.modules[home], "__file__", None))
        if home == "__main__":
            spec = getattr(sys.modules[home], "__spec__", None)
            home = _text(getattr(spec, "name", None)) or os.path.basename(file or "").removesuffix(".py")
        if not home or not all(part.isidentifier() for part in home.split(".")):
            return None
        return {"module": home, "name": name} if file is None else {"module": home, "name": name, "file": file}


def _found(home: str, name: str) -> Any:
    found: Any = sys.modules.get(home)
    for part in name.split("."):
        # What a class or module holds, without running a __getattr__ of the user.
        space = getattr(found, "__dict__", None)
        if space is None or part not in space:
            return None
        found = space[part]
    return found


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""
