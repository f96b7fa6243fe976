"""Inputs of a load: files, folders and lookups, and whether they are unchanged."""

from __future__ import annotations

import importlib.machinery
import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from ....wire.frames import text_digest
from ...isolation.sandbox.audit import is_in_scratch, set_audit_observer
from ...model.loading.loader import Loader
from ...model.locations.code_origin import is_installed, is_ours, is_torch
from ...model.locations.sources import Sources

_LISTS = ("os.listdir", "os.scandir")
_SYSTEM = ("/proc/", "/dev/", "/sys/")
_READERS = ("linecache.py", "tokenize.py")
"""Modules of the standard library that read Python files; of these, the executed ones are compared by their texts."""

_stat = os.stat
_ANY = "*"
"""Used instead of a name that is looked up in a folder: all names in it count."""


class CheckpointInputs:
    """Recorder of files opened, folders listed or searched, and paths queried.

    Files that C code opens by itself are not seen, except extension modules.
    """

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._files: dict[str, tuple[int, ...] | None] = {}
        """Status of each file that identifies its content; None where there was no file."""
        self._kinds: dict[str, int | None] = {}
        """Type of file at each path."""
        self._looked_for: dict[str, set[str]] = {}
        """Names without extensions, by folder."""
        self._changed: dict[str, int | None] = {}
        """Modification time of each of these folders at the first lookup."""
        self._found: dict[str, frozenset[str]] = {}
        """Which of the names existed; filled by :meth:`finish`."""

    @contextmanager
    def watching(self) -> Iterator[Callable[[], None]]:
        """Record inputs until the context ends or the function that it yields is called."""

        def stat_noted(path: Any, *, dir_fd: int | None = None, follow_symlinks: bool = True) -> os.stat_result:
            if dir_fd is None and isinstance(path, (str, os.PathLike)):
                self._note_kind(path)
            return _stat(path, dir_fd=dir_fd, follow_symlinks=follow_symlinks)

        def stop() -> None:
            if os.stat is stat_noted:
                os.stat = _stat
            set_audit_observer(None)
            self._loader.on_lookup = None

        os.stat = stat_noted
        set_audit_observer(self._note)
        self._loader.on_lookup = self._note_lookup
        try:
            yield stop
        finally:
            stop()

    def _note_kind(self, path: Any) -> None:
        full = os.path.abspath(os.fspath(path))
        if _counts(full):
            self._kinds.setdefault(full, _kind(full))

    def _note(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "ctypes.dlopen" and isinstance(args[0], str) and os.sep in args[0]:
            self._note_file(args[0])
        elif event == "open" and isinstance(args[0], (str, bytes, os.PathLike)) and not _reads_python(sys._getframe(2)):
            self._note_file(os.fsdecode(args[0]))
        elif event in _LISTS and not isinstance(args[0], int) and not _is_import(sys._getframe(2)):
            self._note_folder(os.fsdecode(args[0] or "."), _ANY)

    def _note_file(self, path: str) -> None:
        full = os.path.abspath(path)
        if _counts(full):
            self._files.setdefault(full, _state(full))

    def _note_folder(self, folder: str, name: str) -> None:
        full = os.path.abspath(folder)
        if not is_installed(os.path.join(full, "")) and not is_in_scratch(os.path.realpath(full)):
            self._changed.setdefault(full, _changed(full))
            self._looked_for.setdefault(full, set()).add(name)

    def _note_lookup(self, name: str, folders: Iterable[str], spec: importlib.machinery.ModuleSpec | None) -> None:
        for folder in folders:
            self._note_folder(folder or ".", name.rpartition(".")[2])
        if spec is not None and isinstance(spec.loader, importlib.machinery.ExtensionFileLoader):
            self._note_file(spec.loader.path)

    def finish(self) -> bool:
        """Complete the record; return False if a folder has changed meanwhile."""
        if any(_changed(folder) != changed for folder, changed in self._changed.items()):
            return False
        self._found = {folder: _names(folder, looked_for) for folder, looked_for in self._looked_for.items()}
        return True

    def are_unchanged(self, texts: Mapping[str, str], except_file: str) -> bool:
        """Return whether all inputs are as recorded.

        Args:
            texts: The texts of unsaved buffers now, by path.
            except_file: A file whose text may have changed.
        """
        sources = Sources(texts)
        return (
            all(_kind(path) == kind for path, kind in self._kinds.items())
            and all(_state(path) == state for path, state in self._files.items())
            and all(self._finds_the_same(folder) for folder in self._found)
            and all(
                text_digest(sources.text(path) or "") == digest
                for path, digest in self._loader.read.items()
                if path != except_file
            )
        )

    def _finds_the_same(self, folder: str) -> bool:
        if _changed(folder) == self._changed[folder]:
            return True
        return _names(folder, self._looked_for[folder]) == self._found[folder]


def _counts(path: str) -> bool:
    """Return whether a file may change while the interpreter stays the same."""
    return not (path.startswith(_SYSTEM) or is_installed(path) or is_torch(path) or is_in_scratch(path))


def _reads_python(frame: FrameType) -> bool:
    """Return whether the code that opens a file reads Python source."""
    file = frame.f_code.co_filename
    return is_ours(file) or _is_import(frame) or (is_installed(file) and os.path.basename(file) in _READERS)


def _is_import(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith("<frozen importlib")


def _kind(path: str) -> int | None:
    with suppress(OSError, ValueError):
        return stat.S_IFMT(_stat(path).st_mode)
    return None


def _state(path: str) -> tuple[int, ...] | None:
    with suppress(OSError, ValueError):
        found = _stat(path)
        return (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_dev)
    return None


def _changed(folder: str) -> int | None:
    with suppress(OSError, ValueError):
        return _stat(folder).st_mtime_ns
    return None


def _names(folder: str, looked_for: set[str]) -> frozenset[str]:
    with suppress(OSError):
        listed = os.listdir(folder)
        return frozenset(listed if _ANY in looked_for else (n for n in listed if n.partition(".")[0] in looked_for))
    return frozenset()
