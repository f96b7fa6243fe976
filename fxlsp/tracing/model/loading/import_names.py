"""Module name and ``sys.path`` entry under which a file would be imported."""

from __future__ import annotations

import os
from typing import NamedTuple


class ImportName(NamedTuple):
    """Name under which a file is imported, and the folder it is found from."""

    name: str
    """Dotted name."""
    folder: str
    """Folder that must be on ``sys.path``: for a script its own folder, as in Python."""
    is_package: bool
    """Whether the file is the ``__init__.py`` of the package of that name."""

    @property
    def package(self) -> str:
        """Package that relative imports are resolved against."""
        return self.name if self.is_package else self.name.rpartition(".")[0]

    @property
    def package_folders(self) -> list[str]:
        """Folders of the packages that it belongs to, the innermost first."""
        parents = self.name.split(".") if self.is_package else self.name.split(".")[:-1]
        return [os.path.join(self.folder, *parents[:end]) for end in range(len(parents), 0, -1)]


def import_name_of(path: str, relative_level: int) -> ImportName:
    """Return the import name of a file.

    ``relative_level`` is the largest number of dots of its relative imports.

    The file belongs to a package if there is an ``__init__.py`` beside it, or if its relative imports require it: then
    the folders that they lead through are namespace packages.
    """
    folder, file = os.path.split(path)
    parts = [os.path.splitext(file)[0]]
    is_package = parts == ["__init__"] and _can_be_package(folder)
    if is_package:
        folder, parts[0] = os.path.split(folder)
    enclosing = relative_level - is_package
    while _can_be_package(folder) and (os.path.isfile(os.path.join(folder, "__init__.py")) or len(parts) <= enclosing):
        folder, package = os.path.split(folder)
        parts.insert(0, package)
    return ImportName(".".join(parts), folder, is_package)


def _can_be_package(folder: str) -> bool:
    """Return whether a folder's name can be part of a dotted name."""
    name = os.path.basename(folder)
    return bool(name) and "." not in name
