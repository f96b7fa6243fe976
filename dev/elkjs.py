"""Installs another version of elkjs in the package.

``python -m dev.elkjs VERSION`` needs npm. elkjs is committed because a page has to contain it, and an install of fxlsp
from its source has no npm. Its files are unchanged; ``tests/graphview/test_assets.py`` compares them with the record
here.
"""

from __future__ import annotations

import base64
import hashlib
import json
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parents[1] / "fxlsp" / "graphview" / "elkjs"
_RECORD = FOLDER / "package.json"
_FILES = {"package/lib/elk-worker.min.js": "elk-worker.min.js", "package/LICENSE.md": "LICENSE.md"}


def recorded() -> dict[str, Any]:
    """Return the record of the committed version.

    Name, version, licence, the integrity that the registry states for the package, and a digest of each file.
    """
    data: dict[str, Any] = json.loads(_RECORD.read_text(encoding="utf-8"))
    return data


def sha512(path: Path) -> str:
    """Return the digest of a file as package registries write it."""
    return "sha512-" + base64.b64encode(hashlib.sha512(path.read_bytes()).digest()).decode()


def vendor(version: str) -> None:
    """Replace the files by those of ``version``.

    Raises:
        ValueError: the download differs from what the registry states.
    """
    name = f"elkjs@{version}"
    viewed = subprocess.run(
        ["npm", "view", name, "version", "license", "dist.integrity", "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    facts = json.loads(viewed.stdout)
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["npm", "pack", name, "--silent", "--pack-destination", folder], check=True)
        (packed,) = Path(folder).glob("*.tgz")
        if sha512(packed) != facts["dist.integrity"]:
            raise ValueError(f"{packed.name} is not what was published")
        with tarfile.open(packed) as archive:
            for inside, outside in _FILES.items():
                file = archive.extractfile(inside)
                assert file is not None
                (FOLDER / outside).write_bytes(file.read())
    record = {
        "name": "elkjs",
        "version": facts["version"],
        "license": facts["license"],
        "integrity": facts["dist.integrity"],
        "files": {outside: sha512(FOLDER / outside) for outside in _FILES.values()},
    }
    _RECORD.write_text(json.dumps(record, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    vendor(sys.argv[1])
