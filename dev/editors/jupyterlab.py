"""The JupyterLab that the server is tested with, below ``.cache/editors``.

It has the extension jupyterlab-lsp. ``python -m dev.editors.jupyterlab`` installs it where it is missing.
"""

from __future__ import annotations

import subprocess
import sys
import venv

from dev.environment import PROJECT

REQUIREMENTS = ("jupyterlab==4.6.6", "jupyterlab-lsp==5.3.0")
FOLDER = PROJECT / ".cache" / "editors" / "jupyterlab"
_STAMP = FOLDER / "+".join(REQUIREMENTS)
"""Created last, so that it exists only for a completed installation."""


def find_jupyter() -> str | None:
    """Return the path of the program ``jupyter``; None where it is not installed."""
    program = FOLDER / "bin" / "jupyter"
    return str(program) if _STAMP.is_file() and program.exists() else None


def main() -> int:
    if find_jupyter() is not None:
        return 0
    print(f"Installing {' '.join(REQUIREMENTS)} into {FOLDER}", file=sys.stderr, flush=True)
    venv.create(FOLDER, clear=True, with_pip=True)
    pip = [str(FOLDER / "bin" / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    if subprocess.run([*pip, *REQUIREMENTS], check=False).returncode != 0:
        # The tests report what that means: they fail where every editor is required, else they are skipped.
        print("JupyterLab could not be installed.", file=sys.stderr)
        return 0
    _STAMP.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
