"""Run the worker's tests on the oldest and on the newest Python and torch that pyproject.toml claims.

The worker runs inside the interpreter of whoever edits, so it is the part that meets old versions. Fails if one of the
interpreters cannot be had.
"""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.environment import PROJECT
from dev.interpreters import find

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib  # the only one that is there before anything is installed

WORKER_TESTS = ["tests/tracing"]
ON_ALL_PROCESSORS = ["-n", "auto", "--maxprocesses", "4", "--dist", "loadfile"]


@dataclass(frozen=True)
class Pair:
    """A Python and a torch."""

    python: str
    """Minor version, "3.10"."""
    torch: str
    """A requirement, "torch==2.6.0"."""

    @property
    def folder(self) -> Path:
        return Path(".cache", "matrix", f"python{self.python}")

    def __str__(self) -> str:
        return f"Python {self.python}, {self.torch}"


def main() -> int:
    passed = {pair: run(pair) for pair in claimed(PROJECT / "pyproject.toml")}
    for pair, fine in passed.items():
        print(f"{pair}: {'passed' if fine else 'FAILED'}", file=sys.stderr)
    return 0 if all(passed.values()) else 1


def claimed(pyproject: Path) -> tuple[Pair, Pair]:
    """The oldest and the newest pair."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    (torch,) = project["optional-dependencies"]["torch"]
    oldest_torch = _only(r">=([\d.]+)", torch)
    newest_torch = _only(r"<([\d.]+)", torch)
    return (
        Pair(_only(r">=(3\.\d+)", project["requires-python"]), f"torch=={oldest_torch}.*"),
        Pair(newest_python(project), f"torch<{newest_torch}"),
    )


def newest_python(project: dict[str, Any]) -> str:
    """The newest minor version among the classifiers."""
    found = [re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", text) for text in project["classifiers"]]
    return f"3.{max(int(match.group(1)) for match in found if match)}"


def _only(pattern: str, text: str) -> str:
    (found,) = re.findall(pattern, text)
    return str(found)


def run(pair: Pair) -> bool:
    """Whether the tests pass there. Says on standard error why not."""
    print(f"\n{pair}", file=sys.stderr, flush=True)
    base = find(pair.python)
    if base is None:
        print(f"There is no Python {pair.python} on this machine (searched PATH, pyenv and uv).", file=sys.stderr)
        return False
    setup = [base, "-m", "dev.environment", str(pair.folder), pair.torch]
    if subprocess.run(setup, cwd=PROJECT, check=False).returncode != 0:
        return False
    python = PROJECT / pair.folder / "bin" / "python"
    return (
        subprocess.run(
            [str(python), "-m", "pytest", *ON_ALL_PROCESSORS, *WORKER_TESTS], cwd=PROJECT, check=False
        ).returncode
        == 0
    )


if __name__ == "__main__":
    sys.exit(main())
