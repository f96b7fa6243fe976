"""Files that dotted module names refer to, judged by the workspace's folders.

The ``sys.path`` of the running code is not known. A name is resolved to a file if Python would find it from a folder
above the importing file (a script's own, a package's parent, the workspace), or from a ``src`` folder in one of those;
the nearest one counts.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

_SOURCE_FOLDERS = ("src", "lib", "python")
"""Folders that the installation of a project usually puts on ``sys.path``."""


class ModuleFiles:
    """The Python files of a workspace by the names that import them."""

    def __init__(self, paths: Iterable[str]) -> None:
        """
        Args:
            paths: real, absolute paths of the files.
        """
        self._by_stem: dict[str, list[str]] = {}
        for path in paths:
            self._by_stem.setdefault(_stem(path), []).append(path)
        self._found: dict[tuple[str, str], str | None] = {}
        """Results by module name and folder of the importing file, whose own name does not matter."""

    def find(self, name: str, importer: str) -> str | None:
        """Return the file that a module name refers to in the file ``importer``.

        Args:
            name: absolute or relative: ``a.b``, ``.b``, ``..a.b``.

        Returns:
            Path of the file; None if it is not in the workspace.
        """
        key = name, os.path.dirname(importer)
        if key not in self._found:
            self._found[key] = self._find(name, importer)
        return self._found[key]

    def _find(self, name: str, importer: str) -> str | None:
        bare = name.lstrip(".")
        if len(bare) < len(name):
            return self._relative(bare, len(name) - len(bare), importer)
        parts = bare.split(".")
        found = [(base, path) for base, path in self._ending_with(parts) if _is_reachable(base, importer)]
        return max(found, key=lambda each: (len(each[0]), each[1]), default=("", None))[1]

    def _relative(self, bare: str, dots: int, importer: str) -> str | None:
        folder = os.path.dirname(importer)
        for _ in range(dots - 1):
            folder = os.path.dirname(folder)
        if not bare:
            init = os.path.join(folder, "__init__.py")
            return init if init in self._by_stem.get(os.path.basename(folder), ()) else None
        found = (path for base, path in self._ending_with(bare.split(".")) if base == folder)
        return next(found, None)

    def _ending_with(self, parts: list[str]) -> Iterator[tuple[str, str]]:
        """Yield the base folder and path of each file whose path ends like the name."""
        ending = os.path.join("", *parts)
        for path in self._by_stem.get(parts[-1], ()):
            module = _without_suffix(path)
            if module.endswith(os.sep + ending):
                yield module[: -len(ending) - 1], path


def _stem(path: str) -> str:
    return os.path.basename(_without_suffix(path))


def _without_suffix(path: str) -> str:
    """Return ``/a/b`` for both ``/a/b.py`` and ``/a/b/__init__.py``."""
    folder, file = os.path.split(path)
    return folder if file == "__init__.py" else os.path.join(folder, os.path.splitext(file)[0])


def _is_reachable(base: str, importer: str) -> bool:
    folder, name = os.path.split(base)
    above = [base, folder] if name in _SOURCE_FOLDERS else [base]
    return any(importer.startswith(each.rstrip(os.sep) + os.sep) for each in above)
