"""A user who has installed an editor and fxlsp, and did what a page says."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

import pytest


def need(program: str | None, name: str) -> str:
    """The program; without it the test is left out, with a line in the summary: that is no fault of the code."""
    if program is None:
        pytest.skip(f"LEFT OUT: {name} is not there, and make test-editors could not install it")
    return program


def install(home: Path) -> None:
    """Puts the program ``fxlsp`` into ``bin`` below the home folder."""
    program = home / "bin" / "fxlsp"
    program.parent.mkdir(parents=True)
    program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m fxlsp "$@"\n', encoding="utf-8")
    program.chmod(0o755)


def environment_of(home: Path) -> dict[str, str]:
    """That of a process of the user: nothing of whoever runs the tests tells the editor or the server anything."""
    ours = {key: value for key, value in os.environ.items() if not key.startswith(("XDG_", "FXLSP_", "NVIM"))}
    return {**ours, "HOME": str(home), "PATH": f"{home / 'bin'}{os.pathsep}{os.environ['PATH']}"}


def code_after(page: Path, heading: str) -> str:
    """The first block of code of a page after a heading that is not for the shell."""
    return _block(page, heading, "(?!sh$)[a-z]+")


def shell_after(page: Path, heading: str) -> str:
    """The first block for the shell of a page after a heading."""
    return _block(page, heading, "sh")


def _block(page: Path, heading: str, language: str) -> str:
    text = page.read_text(encoding="utf-8").partition(f"\n{heading}\n")[2]
    found = re.search(rf"^```{language}$\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)
    assert found is not None, heading
    return found[1]
