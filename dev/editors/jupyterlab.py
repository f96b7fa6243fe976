"""The JupyterLab that the server is tested with, with the extension jupyterlab-lsp, below ``.cache/editors``.

``python -m dev.editors.jupyterlab`` installs it where it is not there yet.
"""

from __future__ import annotations

import subprocess
import sys
import venv

from dev.environment import PROJECT

REQUIREMENTS = ("jupyterlab==4.6.6", "jupyterlab-lsp==5.3.0")
FOLDER = PROJECT / ".cache" / "editors" / "jupyterlab"
_STAMP = FOLDER / "+".join(REQUIREMENTS)
"""Made last: there is one of an installation that was completed."""


def find_jupyter() -> str | None:
    """The path of the program ``jupyter``; None where it is not installed."""
    program = FOLDER / "bin" / "jupyter"
    return str(program) if _STAMP.is_file() and program.exists() else None


def main() -> int:
    if find_jupyter() is not None:
        return 0
    print(f"Installing {' '.join(REQUIREMENTS)} into {FOLDER}", file=sys.stderr, flush=True)
    venv.create(FOLDER, clear=True, with_pip=True)
    pip = [str(FOLDER / "bin" / "python"), "-m", "pip", "install", "-qq", "--disable-pip-version-check"]
    if subprocess.run([*pip, *REQUIREMENTS], check=False).returncode != 0:
        # What that means is for the tests to say: where all has to be there they fail, else they are left out.
        print("JupyterLab could not be installed.", file=sys.stderr)
        return 0
    _STAMP.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
