"""The user's folders, outside every workspace, in which fxlsp keeps something, by the conventions of the system."""

from __future__ import annotations

import contextlib
import os
import sys
import tempfile
from hashlib import blake2b
from pathlib import Path


def cache_folder() -> Path:
    """The folder for what can be found out again."""
    if sys.platform == "win32":
        base = _local_app_data()
    elif sys.platform == "darwin":
        base = os.path.join(Path.home(), "Library", "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(Path.home(), ".cache")
    return Path(base) / "fxlsp"


def state_folder() -> Path:
    """The folder for what a user chose, and nobody can find out again. ``XDG_STATE_HOME`` counts wherever it is set."""
    base = os.environ.get("XDG_STATE_HOME")
    if not base and sys.platform == "win32":
        base = _local_app_data()
    elif not base and sys.platform == "darwin":
        base = os.path.join(Path.home(), "Library", "Application Support")
    return Path(base or os.path.join(Path.home(), ".local", "state")) / "fxlsp"


def folder_digest(folder: str) -> str:
    """Part of the name of a file about a workspace folder; "" stands for files that lie in none."""
    real = os.path.realpath(folder) if folder else ""
    return blake2b(real.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def write_whole(path: Path, text: str) -> None:
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


def _local_app_data() -> str:
    return os.environ.get("LOCALAPPDATA") or os.path.join(Path.home(), "AppData", "Local")
