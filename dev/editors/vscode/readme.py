"""The three steps of the extension's readme, executed as its reader would."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from dev.editors.vscode.installation import Installation
from dev.editors.vscode.tools import EXTENSION
from dev.environment import PROJECT

README = EXTENSION / "README.md"
_STEP = re.compile(r"^\d+\. ", re.MULTILINE)
_BLOCK = re.compile(r"^ *```(\w+)\n(.*?)^ *```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Steps:
    """The code blocks of the steps."""

    install: str
    """For a shell, in the root of the project."""
    model: str
    """A file with a model."""
    recipe: str
    """A comment for the line above its class."""


def steps() -> Steps:
    """Return the steps of the readme.

    Raises:
        AssertionError: there are not three, or one does not have exactly one block of code.
    """
    _, _, section = README.read_text(encoding="utf-8").partition("\n## Three steps\n")
    texts = _STEP.split(section.partition("\n## ")[0])[1:]
    assert len(texts) == 3, texts
    found = [[_dedented(code) for _, code in _BLOCK.findall(text)] for text in texts]
    assert all(len(blocks) == 1 for blocks in found), found
    return Steps(*(blocks[0] for blocks in found))


def install(user: Installation, commands: str) -> None:
    """Run the commands of the first step for one user of VS Code.

    Raises:
        subprocess.CalledProcessError: one of the commands fails.
    """
    with tempfile.TemporaryDirectory() as temporary:
        user.put_on_path(Path(temporary))
        path = f"{temporary}{os.pathsep}{os.environ['PATH']}"
        # The environment that runs this would be made anew by another Python.
        python = os.path.realpath(sys.executable)
        variables = {**user.variables, "PATH": path, "HOME": os.environ.get("HOME", "/"), "PYTHON": python}
        subprocess.run(["sh", "-ec", commands], cwd=PROJECT, env=variables, check=True, stdout=sys.stderr)


def _dedented(code: str) -> str:
    lines = code.splitlines(keepends=True)
    margin = len(lines[0]) - len(lines[0].lstrip())
    return "".join(line[margin:] if line.strip() else line for line in lines)
