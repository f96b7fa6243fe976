"""Classification of source files: torch, fxlsp, installed packages, workspace."""

from __future__ import annotations

import os
import sysconfig
from functools import cache
from pathlib import Path

import torch

_OUR_FOLDER = os.path.join(Path(__file__).absolute().parents[3], "")
_TORCH_FOLDER = os.path.join(os.path.dirname(os.path.abspath(torch.__file__)), "")
_STANDARD_LIBRARY = tuple(
    os.path.join(folder, "") for folder in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
)
_PACKAGES = ("site-packages", "dist-packages")


@cache
def is_torch(filename: str) -> bool:
    """Return whether a file belongs to torch.

    The folder is compared with its separator, because ``torchvision`` has the same prefix.
    """
    return filename.startswith(_TORCH_FOLDER)


@cache
def is_installed(filename: str) -> bool:
    """Return whether a file belongs to the standard library or an installed package."""
    return any(f"{os.sep}{name}{os.sep}" in filename for name in _PACKAGES) or filename.startswith(_STANDARD_LIBRARY)


def is_ours(filename: str) -> bool:
    """Return whether a file belongs to fxlsp."""
    return filename.startswith(_OUR_FOLDER)


@cache
def is_hidden(filename: str) -> bool:
    """Return whether frames of a file are never shown.

    Hidden are generated code, fxlsp, torch and the standard library, but no other installed package.
    """
    if filename.startswith("<") or is_ours(filename) or is_torch(filename):
        return True
    in_packages = any(f"{os.sep}{name}{os.sep}" in filename for name in _PACKAGES)
    return filename.startswith(_STANDARD_LIBRARY) and not in_packages


@cache
def is_workspace_code(filename: str) -> bool:
    """Return whether a file is the user's own code.

    It is not installed, fxlsp's, torch's or generated.
    """
    return not is_hidden(filename) and not is_installed(filename)
