"""Under which name, and from which folder, a file would be imported."""

from __future__ import annotations

import os
from typing import NamedTuple


class ImportName(NamedTuple):
    """Where a file stands among modules."""

    name: str
    """Dotted."""
    folder: str
    """What must be on ``sys.path`` for it: for a script its own folder, as Python has it."""
    is_package: bool
    """Whether it is the ``__init__.py`` of the package of that name."""

    @property
    def package(self) -> str:
        """What relative imports count from."""
        return self.name if self.is_package else self.name.rpartition(".")[0]


def import_name_of(path: str, relative_level: int) -> ImportName:
    """The place of a file in which an import has up to ``relative_level`` dots.

    It is in a package by the ``__init__.py`` beside it, or else because its relative imports say so: then the folders
    that they lead through are namespace packages.
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
    """Not the root of the disk, and no folder that a dotted name could not name."""
    name = os.path.basename(folder)
    return bool(name) and "." not in name
