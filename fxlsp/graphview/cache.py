"""Pages in the user's cache, one a model, so that a browser can reload them."""

from __future__ import annotations

import contextlib
import re
from hashlib import blake2b
from pathlib import Path

from fxlsp.engine.storage.user_dirs import cache_folder, write_atomically

_MOST_PAGES = 30
"""Each is some 2 MB; the oldest are deleted."""


def page_path(where: str, name: str, folder: Path | None = None) -> Path:
    """Return the path of a model's page.

    Args:
        where: the file that holds the model, or something else that distinguishes it from others of its name.
        folder: instead of the user's cache.
    """
    digest = blake2b(f"{where}\0{name}".encode("utf-8", "surrogateescape"), digest_size=6).hexdigest()
    readable = re.sub(r"[^\w.-]+", "-", name.rpartition(":")[2], flags=re.ASCII)
    return (folder or cache_folder()) / "graphs" / f"{readable}-{digest}.html"


def write_page(path: Path, text: str) -> None:
    """Write a page atomically, and delete the oldest ones.

    Raises:
        OSError: the page cannot be written.
    """
    write_atomically(path, text)
    _delete_oldest(path)


def _delete_oldest(newest: Path) -> None:
    with contextlib.suppress(OSError):
        pages = sorted(newest.parent.glob("*.html"), key=lambda path: path.stat().st_mtime, reverse=True)
        for path in [page for page in pages if page != newest][_MOST_PAGES - 1 :]:
            path.unlink()
