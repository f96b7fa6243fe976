"""The user's folders in which fxlsp stores data, outside every workspace."""

from __future__ import annotations

import contextlib
import os
import tempfile
from hashlib import blake2b
from pathlib import Path

from platformdirs import PlatformDirs


def cache_folder() -> Path:
    """Return the folder for data that can be computed again."""
    return _folders().user_cache_path


def state_folder() -> Path:
    """Return the folder for what the user chose.

    On every system it is in ``XDG_STATE_HOME`` if that is set.
    """
    base = os.environ.get("XDG_STATE_HOME")
    return Path(base) / "fxlsp" if base else _folders().user_state_path


def folder_digest(folder: str) -> str:
    """Return the part of a file name that stands for a workspace folder.

    Args:
        folder: path of the folder; "" for files that are in none.
    """
    real = os.path.realpath(folder) if folder else ""
    return blake2b(real.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def write_atomically(path: Path, text: str) -> None:
    """Write a file completely or not at all: another server may be reading it.

    Raises:
        OSError: the file cannot be written.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise


def _folders() -> PlatformDirs:
    # On Windows neither a folder of the author above it nor a folder "Cache" in it.
    return PlatformDirs("fxlsp", appauthor=False, opinion=False)
