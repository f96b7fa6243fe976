"""What files offer, kept on disk by the content of the files: a workspace that was opened before is known at once."""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

import fxlsp
from fxlsp.source.offers import FORMAT, Offers

_VERSION = f"{fxlsp.__version__}-{FORMAT}"


def content_digest(data: bytes) -> str:
    """The name of a file's content."""
    return blake2b(data, digest_size=16).hexdigest()


def cache_folder() -> Path:
    """The folder for what can be found out again, by the conventions of the system."""
    if sys.platform == "win32":
        base = os.environ.get("LOCALAPPDATA") or os.path.join(Path.home(), "AppData", "Local")
    elif sys.platform == "darwin":
        base = os.path.join(Path.home(), "Library", "Caches")
    else:
        base = os.environ.get("XDG_CACHE_HOME") or os.path.join(Path.home(), ".cache")
    return Path(base) / "fxlsp"


class IndexCache:
    """One file a workspace folder. Without a folder to write to, or with one that holds nonsense, it holds nothing."""

    def __init__(self, root: str, folder: Path | None = None) -> None:
        name = blake2b(os.path.realpath(root).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
        self._path = (folder or cache_folder()) / f"index-{name}.json"

    def read(self) -> dict[str, Offers | None]:
        """What each content offers, by its digest; None for what does not parse."""
        try:
            with open(self._path, encoding="utf-8") as file:
                data = json.load(file)
            if data["version"] != _VERSION:
                return {}
            return {
                digest: None if offers is None else Offers.from_json(offers) for digest, offers in data["files"].items()
            }
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            return {}

    def write(self, offers: Mapping[str, Offers | None], keep: Iterable[str]) -> None:
        """Replaces what is kept by those of ``offers`` whose digests are in ``keep``."""
        files = {digest: each.to_json() if (each := offers[digest]) is not None else None for digest in set(keep)}
        with contextlib.suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            _replace(self._path, json.dumps({"version": _VERSION, "files": files}, separators=(",", ":")))


def _replace(path: Path, text: str) -> None:
    """Whole or not at all: another server may read it meanwhile."""
    descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name)
    try:
        with open(descriptor, "w", encoding="utf-8") as file:
            file.write(text)
        os.replace(name, path)
    except OSError:
        with contextlib.suppress(OSError):
            os.unlink(name)
        raise
