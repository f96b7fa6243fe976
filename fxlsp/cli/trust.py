"""``fxlsp trust``: the folders whose code editors may run through fxlsp."""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any

from fxlsp.cli.exit_codes import NOTHING_FOUND, UsageError
from fxlsp.engine.storage.trusted_folders import TrustedFolders


def add_parser(commands: Any) -> None:
    text = "let fxlsp run the code of a folder in editors that leave that to it"
    parser = commands.add_parser("trust", help=text, description=text)
    parser.add_argument("folder", metavar="FOLDER", nargs="?", default=".", help="by default the working folder")
    which = parser.add_mutually_exclusive_group()
    which.add_argument("--forget", action="store_true", help="take that back, for folders in it and around it too")
    which.add_argument("--list", action="store_true", help="print the trusted folders and change nothing")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    trusted = TrustedFolders()
    if arguments.list:
        sys.stdout.writelines(f"{folder}\n" for folder in sorted(trusted.read()))
        return NOTHING_FOUND
    if not arguments.forget and not os.path.isdir(arguments.folder):
        raise UsageError(f"there is no folder {arguments.folder}")
    try:
        if arguments.forget:
            trusted.remove([arguments.folder])
        else:
            trusted.add([arguments.folder])
    except OSError as error:
        raise UsageError(f"{trusted.path} cannot be written: {error.strerror or error}") from error
    return NOTHING_FOUND
