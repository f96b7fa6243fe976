"""Find an interpreter of a given version on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_PROBE = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"


def find(version: str) -> str | None:
    """An interpreter of the minor version ``version`` ("3.10") that can make virtual environments."""
    return next((path for path in candidates(version) if probe(path) == version), None)


def candidates(version: str) -> Iterator[str]:
    """Where one may lie: this one, the search path, pyenv's folder, uv's."""
    yield sys.executable
    if on_path := shutil.which(f"python{version}"):
        yield on_path
    pyenv = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv")
    for folder in sorted(pyenv.glob(f"versions/{version}.*"), reverse=True):
        yield str(folder / "bin" / "python")
    if uv := shutil.which("uv"):
        found = subprocess.run([uv, "python", "find", version], capture_output=True, text=True, check=False)
        if found.returncode == 0:
            yield found.stdout.strip()


def probe(path: str) -> str | None:
    """The version an interpreter says it is; None where it does not run (a pyenv shim of no selected version)."""
    try:
        result = subprocess.run([path, "-c", _PROBE], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None
