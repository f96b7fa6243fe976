"""Search for an interpreter of a given version on this machine."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

_PROBE = "import ensurepip, sys, venv; print('%d.%d' % sys.version_info[:2])"


def find(version: str) -> str | None:
    """Return an interpreter of a minor version ("3.10"); None without one.

    It must be able to create virtual environments.
    """
    return next((path for path in candidates(version) if probe(path) == version), None)


def candidates(version: str) -> Iterator[str]:
    """Yield paths that may be an interpreter of that version.

    This interpreter, the search path, pyenv's folder, and uv's.
    """
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
    """Return the version that an interpreter reports.

    None where it does not run, such as a pyenv shim of a version that is not selected.
    """
    try:
        result = subprocess.run([path, "-c", _PROBE], capture_output=True, text=True, check=False, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None
