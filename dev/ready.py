"""What must be green before a change is handed over, within some five minutes: ``python -m dev.ready [--since REV]``.

Formatter, linter, type checker, then the tests that the change can reach: first those in the folders that mirror the
changed files, then those that import them. What had no time is skipped, and counted. ``.ci/run`` runs everything.
"""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from dev.environment import PROJECT
from dev.matrix import ON_ALL_PROCESSORS
from tests.support.waiting import UNTIL

SECONDS = 300.0

_PACKAGES = ("fxlsp", "tests", "dev", "benchmarks")
_OUTSIDE = "tests/editors"
"""Tests that need an editor: `make test-editors`."""
_STATIC = (("ruff", "format", "--check", "."), ("ruff", "check", "."), ("mypy",))


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m dev.ready", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--since", default="main", metavar="REV", help="the change begins there (default: %(default)s)")
    ends = time.time() + SECONDS
    changed = changed_files(parser.parse_args().since)
    print(f"ready: {len(changed)} changed files", flush=True)
    for command in _STATIC:
        if subprocess.run([sys.executable, "-m", *command], cwd=PROJECT, check=False).returncode != 0:
            print(f"ready: NO: {' '.join(command)}", file=sys.stderr)
            return 1
    tests = reached_tests(changed, PROJECT)
    everything = {path for path in _test_files(PROJECT) if not path.startswith(_OUTSIDE)}
    code = _run(tests, ends) if tests else 0
    left_out = len(everything - set(tests))
    print(f"ready: {'NO' if code else 'yes'}; the change does not reach {left_out} of {len(everything)} test files")
    print("ready: the oldest Python and torch, the attacks and the editors are left to .ci/run")
    return code


def changed_files(since: str) -> list[str]:
    """Return the files that differ from where this branch left ``since``, committed or not."""
    base = _git("merge-base", since, "HEAD").strip()
    listed = _git("diff", "--name-only", base) + _git("ls-files", "--others", "--exclude-standard")
    return sorted(set(listed.splitlines()))


def _git(*arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=PROJECT, check=True, capture_output=True, text=True).stdout


def reached_tests(changed: Iterable[str], project: Path) -> list[str]:
    """Return the files of tests that changed files can reach, the nearest first.

    Args:
        changed: paths relative to ``project``; those that are no Python of it, or are gone, reach nothing.
        project: the folder of the repository.
    """
    present = [path for path in changed if path.endswith(".py") and (project / path).exists()]
    users = _users(project)
    near = [test for path in present for test in (path, *_mirrored(path, project)) if _is_test(test)]
    reached, pending = set(present), list(present)
    while pending:
        fresh = users.get(pending.pop(), set()) - reached
        reached |= fresh
        pending += fresh
    far = sorted(path for path in reached if _is_test(path))
    return [path for path in dict.fromkeys((*near, *far)) if not path.startswith(_OUTSIDE)]


def _is_test(path: str) -> bool:
    return path.startswith("tests/") and Path(path).name.startswith("test_")


def _mirrored(path: str, project: Path) -> Iterator[str]:
    """Yield the tests in the folder that mirrors a file's, or in the nearest one above it that there is."""
    first, *folders = Path(path).parts[:-1]
    if first != "fxlsp":
        return
    while folders and not (project / "tests" / Path(*folders)).is_dir():
        folders.pop()
    if folders:
        for test in sorted((project / "tests" / Path(*folders)).glob("test_*.py")):
            yield test.relative_to(project).as_posix()


def _test_files(project: Path) -> Iterator[str]:
    for path in (project / "tests").rglob("test_*.py"):
        yield path.relative_to(project).as_posix()


def _users(project: Path) -> dict[str, set[str]]:
    """Return, for each Python file of the repository, the files that import it."""
    users: dict[str, set[str]] = {}
    for package in _PACKAGES:
        for path in (project / package).rglob("*.py"):
            user = path.relative_to(project).as_posix()
            for used in _imported(path, project):
                users.setdefault(used, set()).add(user)
    return users


def _imported(path: Path, project: Path) -> Iterator[str]:
    folder = path.relative_to(project).parent.parts
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            modules = [tuple(alias.name.split(".")) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = folder[: len(folder) - node.level + 1] if node.level else ()
            module = (*base, *(node.module or "").split(".")) if node.module else base
            modules = [module, *((*module, alias.name) for alias in node.names)]
        else:
            continue
        for module in modules:
            file = project.joinpath(*module).with_suffix(".py")
            if module and module[0] in _PACKAGES and file.exists():
                yield file.relative_to(project).as_posix()


def _run(tests: Sequence[str], ends: float) -> int:
    """Run tests until a time; return pytest's exit code, 0 also where none was collected."""
    command = [sys.executable, "-m", "pytest", "-q", *ON_ALL_PROCESSORS, *tests]
    environment = {**os.environ, UNTIL: str(ends)}
    code = subprocess.run(command, cwd=PROJECT, check=False, env=environment).returncode
    return 0 if code == 5 else code


if __name__ == "__main__":
    sys.exit(main())
