"""Installation of Debian packages, where that is permitted."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys


def install(packages: list[str], consequence: str) -> None:
    """Try to install packages; the tests report missing ones.

    Args:
        packages: their names.
        consequence: what is not tested without them.
    """
    if shutil.which("apt-get") is None or os.geteuid() != 0:
        sys.stderr.write(f"Only root could install {', '.join(packages)}, with apt-get: {consequence}.\n")
        return
    # If one of several sources cannot be reached, the others may still have the packages.
    subprocess.run(["apt-get", "update", "-qq"], check=False)
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages]
    if subprocess.run(command, check=False, stdout=subprocess.DEVNULL, env=environment).returncode != 0:
        sys.stderr.write(f"{', '.join(packages)} could not be installed: {consequence}.\n")
