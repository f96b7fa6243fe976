"""What files offer, kept on disk by the content of the files: a workspace that was opened before is known at once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b
from pathlib import Path
from typing import Any

from fxlsp.engine.storage.index_files import IndexFile
from fxlsp.source.models.file_summary import FileSummary


def content_digest(data: bytes) -> str:
    """The name of a file's content."""
    return blake2b(data, digest_size=16).hexdigest()


class IndexCache:
    """Of one workspace folder."""

    def __init__(self, root: str, folder: Path | None = None) -> None:
        self._file = IndexFile("index", root, folder)

    def read(self) -> dict[str, FileSummary | None]:
        """What each content offers, by its digest; None for what does not parse."""
        return self._file.read(_offers)

    def write(self, offers: Mapping[str, FileSummary | None], keep: Iterable[str]) -> None:
        """Replaces what is kept by those of ``offers`` whose digests are in ``keep``."""
        self._file.write(
            {digest: each.to_json() if (each := offers[digest]) is not None else None for digest in set(keep)}
        )


def _offers(data: Any) -> FileSummary | None:
    return None if data is None else FileSummary.from_json(data)
