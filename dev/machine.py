"""Prints on what a run takes place: ``python -m dev.machine``."""

from __future__ import annotations

import os
import platform
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

_CPUINFO = Path("/proc/cpuinfo")
_MEMINFO = Path("/proc/meminfo")


def main() -> int:
    print(f"machine: Python {platform.python_version()}, {_packages('torch', 'torchvision', 'pygls', 'pytest')}")
    print(f"machine: {os.cpu_count()} cores of {_processor()}, {_memory()}, {platform.platform()}")
    return 0


def _packages(*names: str) -> str:
    return ", ".join(f"{name} {_version(name)}" for name in names)


def _version(name: str) -> str:
    try:
        return version(name)
    except PackageNotFoundError:
        return "(not installed)"


def _processor() -> str:
    lines = _CPUINFO.read_text(encoding="utf-8").splitlines() if _CPUINFO.exists() else []
    named = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return named[0] if named else platform.machine()


def _memory() -> str:
    if not _MEMINFO.exists():
        return "memory unknown"
    kib = int(_MEMINFO.read_text(encoding="ascii").split()[1])
    return f"{kib / 2**20:.0f} GiB"


if __name__ == "__main__":
    sys.exit(main())
