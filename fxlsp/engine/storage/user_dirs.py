"""The user's folders in which fxlsp stores data, outside every workspace."""

from __future__ import annotations

import contextlib
import os
import tempfile
import time
from collections.abc import Callable, Iterator
from hashlib import blake2b
from pathlib import Path

from platformdirs import PlatformDirs

_PRIVATE = 0o700
_ABANDONED_SECONDS = 3600.0
"""Age from which on an unfinished file is one of a process that was killed while it wrote."""
_NOWHERE = Path(os.devnull, "fxlsp")
"""Folder that cannot exist: where the user has none, nothing is found and nothing can be written."""


def cache_folder() -> Path:
    """Return the folder for data that can be computed again."""
    return _usable(lambda: _folders().user_cache_path)


def state_folder() -> Path:
    """Return the folder for what the user chose.

    On every system it is in ``XDG_STATE_HOME`` if that is set.
    """
    base = os.environ.get("XDG_STATE_HOME")
    return _usable(lambda: Path(base) / "fxlsp" if base else _folders().user_state_path)


def folder_digest(folder: str) -> str:
    """Return the part of a file name that stands for a workspace folder.

    Args:
        folder: path of the folder; "" for files that are in none.
    """
    real = os.path.realpath(folder) if folder else ""
    return blake2b(real.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def write_atomically(path: Path, text: str, *, durable: bool = False, previous: Path | None = None) -> None:
    """Write a file completely or not at all: another server may be reading it.

    Only the user can read the file, and a folder that is made for it.

    Args:
        durable: wait until the disk has it, so that it survives a loss of power: for what cannot be computed again.
        previous: path at which the file that is replaced is kept.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(mode=_PRIVATE, parents=True, exist_ok=True)
    _remove_abandoned(path)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            if durable:
                os.fsync(file.fileno())
        with contextlib.nullcontext() if previous is None else _kept_as(previous, path):
            os.replace(name, path)
    except BaseException:
        _remove(name)
        raise
    if durable:
        _flush_folder(path.parent)


@contextlib.contextmanager
def _kept_as(previous: Path, path: Path) -> Iterator[None]:
    """Keep the file that is replaced in the context, if there is one and the file system can give it a second name."""
    name = f"{path}.{os.getpid()}.tmp"
    try:
        with contextlib.suppress(OSError):
            os.link(path, name)
        yield
        with contextlib.suppress(OSError):
            os.replace(name, previous)
    finally:
        _remove(name)


def _remove(path: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(path)


def _remove_abandoned(path: Path) -> None:
    """Remove what processes have left that were killed while they wrote ``path``."""
    with contextlib.suppress(OSError), os.scandir(path.parent) as entries:
        for entry in entries:
            if entry.name.startswith(path.name) and entry.name.endswith(".tmp"):
                with contextlib.suppress(OSError):
                    if time.time() - entry.stat(follow_symlinks=False).st_mtime > _ABANDONED_SECONDS:
                        os.unlink(entry.path)


def _flush_folder(folder: Path) -> None:
    """Write the names of a folder to the disk, where the system can."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _usable(find: Callable[[], Path]) -> Path:
    """Return the folder that ``find`` finds; one that cannot exist where the user has none.

    Without a home, or with a wrong variable in the environment, one version of platformdirs returns a path that is
    relative to wherever fxlsp was started, and another raises.
    """
    try:
        folder = find()
    except RuntimeError:
        return _NOWHERE
    return folder if folder.is_absolute() else _NOWHERE


def _folders() -> PlatformDirs:
    # On Windows neither a folder of the author above it nor a folder "Cache" in it.
    return PlatformDirs("fxlsp", appauthor=False, opinion=False)
