"""What files offer, kept on disk by the content of the files: a workspace that was opened before is known at once."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path

import fxlsp
from fxlsp.engine.user_folders import cache_folder, folder_digest, write_whole
from fxlsp.source.offers import FORMAT, Offers

_VERSION = f"{fxlsp.__version__}-{FORMAT}"


def content_digest(data: bytes) -> str:
    """The name of a file's content."""
    return blake2b(data, digest_size=16).hexdigest()


class IndexCache:
    """One file a workspace folder. Without a folder to write to, or with one that holds nonsense, it holds nothing."""

    def __init__(self, root: str, folder: Path | None = None) -> None:
        self._path = (folder or cache_folder()) / f"index-{folder_digest(root)}.json"

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
            write_whole(self._path, json.dumps({"version": _VERSION, "files": files}, separators=(",", ":")))
