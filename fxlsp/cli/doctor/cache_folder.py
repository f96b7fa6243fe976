"""Where fxlsp keeps what can be found out again."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from fxlsp.cli.doctor.finding import Finding
from fxlsp.engine.storage.user_dirs import cache_folder


def cache() -> Finding:
    folder = cache_folder()
    origin = " (by XDG_CACHE_HOME)" if os.environ.get("XDG_CACHE_HOME") else ""
    problem = _not_writable(folder)
    if problem is None:
        return Finding("cache", "ok", f"{folder}{origin}, can be written to")
    message = f"{folder}{origin} cannot be written to: {problem}"
    return Finding("cache", "warning", message, advice="let it be written to; else each start reads all files anew")


def _not_writable(folder: Path) -> str | None:
    """Why nothing can be kept there; None if it can."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            return None
    except OSError as error:
        return error.strerror or str(error)
