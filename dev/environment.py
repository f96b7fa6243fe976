"""Creates or reuses a virtual environment with this project and its test tools.

``python -m dev.environment FOLDER [REQUIREMENT ...]`` installs the project with the extra ``test``, under the further
requirements (``torch==2.6.*``). The environment is reused while pyproject.toml, the requirements and the interpreter
stay the same.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import subprocess
import sys
import venv
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1]
OLDEST = (3, 10)
STAMP = "fxlsp-environment.json"
NOT_TO_BE_HAD = 3
"""Exit code: the machine's pip has no such requirements; nothing of the project is at fault."""
NEEDED_GIB = 9
"""Free disk for an environment whose torch brings CUDA's libraries along, as on Linux: 6 installed, 3 downloaded."""
PIP_OPTIONS = ("-qq", "--progress-bar=off", "--disable-pip-version-check")


def main() -> int:
    if sys.version_info < OLDEST:
        print(
            f"fxlsp needs Python {OLDEST[0]}.{OLDEST[1]} or later; this is {sys.version.split()[0]}.", file=sys.stderr
        )
        print("Name another one: make test PYTHON=python3.11", file=sys.stderr)
        return 2
    folder, *requirements = sys.argv[1:]
    try:
        prepare(Path(folder), requirements)
    except subprocess.CalledProcessError:
        python = Path(folder) / "bin" / "python"
        if not python.exists() or is_to_be_had(python, requirements):
            return 1
        return NOT_TO_BE_HAD
    return 0


def prepare(folder: Path, requirements: list[str]) -> Path:
    """Create or update the environment in ``folder`` under this interpreter.

    Returns:
        The path of its interpreter.

    Raises:
        subprocess.CalledProcessError: pip could not install; it has printed the reason.
    """
    python = folder / "bin" / "python"
    wanted = stamp(requirements)
    found = read_stamp(folder)
    if found == wanted and python.exists():
        return python
    print(f"Installing fxlsp[test] into {folder} (downloads torch the first time)", file=sys.stderr, flush=True)
    free = shutil.disk_usage(PROJECT).free / 2**30
    if free < NEEDED_GIB:
        print(
            f"{free:.1f} GiB of disk are free; torch with CUDA needs up to {NEEDED_GIB}: pip may fail", file=sys.stderr
        )
    # An environment of another interpreter or torch is made anew; a change of pyproject.toml alone is an update.
    reuse = python.exists() and {**found, "project": ""} == {**wanted, "project": ""}
    if not reuse:
        venv.create(folder, clear=True, with_pip=True)
    pip = [str(python), "-m", "pip", "install", *PIP_OPTIONS]
    subprocess.run([*pip, "--editable", f"{PROJECT}[test]", *requirements], check=True)
    (folder / STAMP).write_text(json.dumps(wanted), encoding="utf-8")
    return python


def is_to_be_had(python: Path, requirements: list[str]) -> bool:
    """Return whether pip finds a release for each of these requirements, under the constraints of this machine.

    It is asked without the project, so that a fault in pyproject.toml is not taken for one of the machine.
    """
    if not requirements:
        return True
    ask = [str(python), "-m", "pip", "install", *PIP_OPTIONS, "--dry-run", "--no-deps", "--ignore-installed"]
    return subprocess.run([*ask, *requirements], check=False, stderr=subprocess.DEVNULL).returncode == 0


def stamp(requirements: list[str]) -> dict[str, str]:
    """Return what an environment depends on."""
    return {
        "project": hashlib.sha256((PROJECT / "pyproject.toml").read_bytes()).hexdigest(),
        "folder": str(PROJECT),
        "requirements": " ".join(requirements),
        "python": f"{sys.base_prefix} {sys.version}",
    }


def read_stamp(folder: Path) -> dict[str, str]:
    """Return the stamp of a completed environment; empty where there is none."""
    try:
        data = json.loads((folder / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return data if isinstance(data, dict) else {}


if __name__ == "__main__":
    sys.exit(main())
