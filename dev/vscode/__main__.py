"""``python -m dev.vscode``: checks, builds and tests the VS Code extension in the real editor.

Where the editor cannot be had nothing is tested, with a line that says so; with ``CI`` set that is a failure.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import time

from dev.vscode.extension import build, check
from dev.vscode.host_tests import run_host_tests
from dev.vscode.interface import run_interface
from dev.vscode.tools import CACHE, MissingError, tools
from dev.vsix import pack


def main() -> int:
    began = time.monotonic()
    # As by Ctrl-C: what was started is ended.
    signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    try:
        found = tools()
    except MissingError as error:
        print(f"VS Code is not tested: {error}.", file=sys.stderr)
        return 1 if os.environ.get("CI") else 0
    pictures = CACHE / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    check(found)
    build(found, tests=True)
    failed = asyncio.run(run_host_tests(found, pictures))
    asyncio.run(run_interface(found, pack(found, "linux-x64"), pictures))
    print(f"VS Code: {failed or 'none'} failed, {time.monotonic() - began:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
