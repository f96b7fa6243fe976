"""Checks, builds and tests the VS Code extension in the real editor.

``python -m dev.editors.vscode [PART ...]``. Where the editor is not available nothing is tested, and a line reports
it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
import sys
import time

from dev.editors.vscode.extension import build, check
from dev.editors.vscode.host_tests import run_suite
from dev.editors.vscode.interface import run_interface
from dev.editors.vscode.packages import check_bundled_server, check_packages
from dev.editors.vscode.private_environment import run_private_environment
from dev.editors.vscode.readme import steps
from dev.editors.vscode.suites import SUITES
from dev.editors.vscode.tools import CACHE, MissingError, tools
from dev.vsix import HERE, UNIVERSAL, pack

CHECK, INTERFACE, PRIVATE, BUNDLED, PACKAGES = "check", "interface", "private", "bundled", "packages"
USUAL = [CHECK, *(suite.name for suite in SUITES), INTERFACE, PRIVATE, BUNDLED]
PARTS = [*USUAL, PACKAGES]
"""The last one downloads the wheels of every platform: minutes, for what no change of this project alters."""


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m dev.editors.vscode", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("part", nargs="*", choices=[*PARTS, []], help=f"{', '.join(PARTS)}; left out: all but the last")
    parser.add_argument("-k", dest="names", default="", metavar="WORDS", help="only tests whose names hold these words")
    arguments = parser.parse_args()
    parts = arguments.part or USUAL
    began = time.monotonic()
    # As by Ctrl-C, so that all processes that were started are ended.
    signal.signal(signal.SIGTERM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
    try:
        found = tools()
    except MissingError as error:
        print(f"LEFT OUT: VS Code is not tested: {error}.", file=sys.stderr)
        return 0
    pictures = CACHE / "pictures"
    pictures.mkdir(parents=True, exist_ok=True)
    if CHECK in parts:
        check(found.node)
    build(found.node, tests=True)
    failed = 0
    for suite in SUITES:
        if suite.name in parts:
            failed += asyncio.run(run_suite(found, suite, pictures, arguments.names))
    if INTERFACE in parts:
        asyncio.run(run_interface(found, steps(), pictures))
    if PRIVATE in parts:
        package = pack(found.node, UNIVERSAL)
        asyncio.run(run_private_environment(found, package, steps().model, pictures))
    if BUNDLED in parts:
        asyncio.run(check_bundled_server(pack(found.node, HERE), steps().model))
    if PACKAGES in parts:
        check_packages(found.node)
    print(f"VS Code: {failed or 'none'} failed, {time.monotonic() - began:.0f} s", flush=True)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
