"""Runs the server that comes with the VS Code extension, under whatever CPython starts this file.

With arguments it runs that command of fxlsp instead.

``bundled/all`` holds fxlsp and what is pure Python, ``bundled/cp311`` what is compiled for CPython 3.11. Where the
latter is missing, this Python has the dependencies installed: it is that of the environment made on first start.
"""

import sys
from pathlib import Path


def main() -> int:
    bundled = Path(__file__).resolve().parents[1] / "bundled"
    compiled = bundled / f"cp{sys.version_info.major}{sys.version_info.minor}"
    # Before everything that is installed for this Python: another fxlsp, or other versions of what it needs.
    sys.path[:0] = [str(folder) for folder in (bundled / "all", compiled) if folder.is_dir()]
    from fxlsp.cli.main import main as fxlsp

    return fxlsp(sys.argv[1:] or ["serve", "--stdio"])


if __name__ == "__main__":
    sys.exit(main())
