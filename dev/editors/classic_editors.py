"""Emacs with eglot and lsp-mode, and Vim with ALE, as packaged by Debian.

``python -m dev.editors.classic_editors`` installs what is missing and may be installed.
"""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

from dev.debian import install

ALE = Path("/usr/share/vim-ale")
_LISP = Path("/usr/share/emacs/site-lisp/elpa-src")


def find_emacs() -> str | None:
    """Return the path of an Emacs that has both packages; None without one."""
    has_both = all(any(_LISP.glob(f"{package}-*")) for package in ("eglot", "lsp-mode"))
    return shutil.which("emacs") if has_both else None


def find_vim() -> str | None:
    """Return the path of a Vim that has ALE, in the folder ``ALE``; None without one."""
    return shutil.which("vim") if ALE.exists() else None


def main() -> int:
    missing = [] if find_emacs() else ["emacs-nox", "elpa-eglot", "elpa-lsp-mode"]
    missing += [] if find_vim() else ["vim", "vim-ale"]
    if missing:
        install(missing, "that editor is not tested")
    return 0


if __name__ == "__main__":
    sys.exit(main())
