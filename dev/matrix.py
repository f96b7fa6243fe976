"""Runs the version-dependent tests on the oldest and newest Python and torch.

``python -m dev.matrix [oldest] [newest]``: both ends if none is named; pyproject.toml states them. The worker runs
inside the project's interpreter, so it is the part that meets other versions. An end whose interpreter or torch is not
to be had on this machine is left out, with a line. ``--install`` makes the environments alone. ``make test`` runs on
the torch that plain pip gives, whichever that is.

``python -m dev.matrix --python newest`` prints the path of that end's interpreter, or of this one where there is none.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dev.environment import NOT_TO_BE_HAD, PROJECT
from dev.interpreters import find

if sys.version_info >= (3, 11):
    import tomllib
else:
    from pip._vendor import tomli as tomllib  # the only one before anything is installed

ENDS = ("oldest", "newest")
FAILED = "FAILED"
LEFT_OUT = "LEFT OUT: its interpreter or its torch is not to be had on this machine"
# The worker depends on torch's version, the editor's commands on what Python says of annotations. The tests of the
# search, of torchvision's models and of system calls take much processor time and do not depend on versions.
VERSION_TESTS = [
    "tests/tracing",
    "tests/server/commands/test_record.py",
    "--ignore=tests/tracing/search",
    "--ignore=tests/tracing/model/capture/test_torchvision.py",
    "--ignore=tests/tracing/isolation/sandbox/test_locks.py",
]
ON_ALL_PROCESSORS = ["-n", str((os.cpu_count() or 1) + 1), "--maxprocesses", "4", "--dist", "worksteal"]


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
    parser = argparse.ArgumentParser(prog="python -m dev.matrix", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("end", nargs="*", choices=[*ENDS, []], help="oldest, newest; left out: both")
    parser.add_argument("--install", action="store_true", help="make the environments and run nothing")
    parser.add_argument("--python", choices=ENDS, help="print the path of this end's interpreter")
    arguments = parser.parse_args()
    pairs = dict(zip(ENDS, claimed(PROJECT / "pyproject.toml"), strict=True))
    if arguments.python is not None:
        print(interpreter(pairs[arguments.python]) or sys.executable)
        return 0
    chosen = [pairs[end] for end in arguments.end or ENDS]
    results = {pair: result_of(pair, only_install=arguments.install) for pair in chosen}
    for pair, result in results.items():
        print(f"{pair}: {result}", file=sys.stderr)
    return 1 if FAILED in results.values() else 0


def result_of(pair: Pair, *, only_install: bool) -> str:
    """Create the pair's environment, run its tests if wanted, and return the word that tells how that went."""
    print(f"\n{pair}", file=sys.stderr, flush=True)
    base = interpreter(pair)
    if base is None:
        return LEFT_OUT
    status = install(pair, base)
    if status == NOT_TO_BE_HAD:
        return LEFT_OUT
    if status != 0:
        return FAILED
    if only_install:
        return "ready"
    return "passed" if run(pair) else FAILED


def claimed(pyproject: Path) -> tuple[Pair, Pair]:
    """Return the oldest and the newest pair of pyproject.toml."""
    project = tomllib.loads(pyproject.read_text(encoding="utf-8"))["project"]
    (torch,) = project["optional-dependencies"]["torch"]
    oldest_torch = _only(r">=([\d.]+)", torch)
    newest_torch = _only(r"<([\d.]+)", torch)
    return (
        Pair(_only(r">=(3\.\d+)", project["requires-python"]), f"torch=={oldest_torch}.*"),
        Pair(newest_python(project), f"torch=={_before(newest_torch)}.*"),
    )


def newest_python(project: dict[str, Any]) -> str:
    """Return the newest minor version among the classifiers."""
    found = [re.fullmatch(r"Programming Language :: Python :: 3\.(\d+)", text) for text in project["classifiers"]]
    return f"3.{max(int(match.group(1)) for match in found if match)}"


def _before(version: str) -> str:
    """Return the minor version before a version, "2.15" of "2.16"."""
    major, _, minor = version.partition(".")
    return f"{major}.{int(minor) - 1}"


def _only(pattern: str, text: str) -> str:
    (found,) = re.findall(pattern, text)
    return str(found)


def interpreter(pair: Pair) -> str | None:
    """Return the path of a Python of that version.

    None, with a line on standard error, where there is none.
    """
    found = find(pair.python)
    if found is None:
        print(f"There is no Python {pair.python} on this machine (searched PATH, pyenv and uv).", file=sys.stderr)
    return found


def install(pair: Pair, base: str) -> int:
    """Create the pair's environment under an interpreter, if it is missing; return the exit code."""
    setup = [base, "-m", "dev.environment", str(pair.folder), pair.torch]
    return subprocess.run(setup, cwd=PROJECT, check=False).returncode


def run(pair: Pair) -> bool:
    """Run the tests in the pair's environment; return whether they pass."""
    python = PROJECT / pair.folder / "bin" / "python"
    return (
        subprocess.run(
            [str(python), "-m", "pytest", *ON_ALL_PROCESSORS, *VERSION_TESTS], cwd=PROJECT, check=False
        ).returncode
        == 0
    )


if __name__ == "__main__":
    sys.exit(main())
