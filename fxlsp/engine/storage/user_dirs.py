"""The folders of the user in which fxlsp stores something, outside every workspace."""

from __future__ import annotations

import contextlib
import os
import tempfile
from hashlib import blake2b
from pathlib import Path

from platformdirs import PlatformDirs


def cache_folder() -> Path:
    """Return the folder for what can be computed again."""
    return _folders().user_cache_path


def state_folder() -> Path:
    """Return the folder for what the user chose, on every system in ``XDG_STATE_HOME`` if that is set."""
    base = os.environ.get("XDG_STATE_HOME")
    return Path(base) / "fxlsp" if base else _folders().user_state_path


def folder_digest(folder: str) -> str:
    """Part of the name of a file about a workspace folder; "" stands for files that lie in none."""
    real = os.path.realpath(folder) if folder else ""
    return blake2b(real.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def write_atomically(path: Path, text: str) -> None:
    """Writes a file whole or not at all, since another server may read it meanwhile.

    Raises:
        OSError: there is no place for it.
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
    # On Windows without a folder of the author's around it and one called Cache in it.
    return PlatformDirs("fxlsp", appauthor=False, opinion=False)
