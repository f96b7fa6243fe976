"""What of a run is wanted: problem codes, a share of the files, files that changed."""

from __future__ import annotations

import argparse
import ast
import os
import subprocess
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from fxlsp.cli.exit_codes import UsageError
from fxlsp.engine.index.module_files import ModuleFiles
from fxlsp.report.codes import is_code_prefix, no_code
from fxlsp.source.text.documents import read_document

_GIT_SECONDS = 60.0


@dataclass(frozen=True)
class CodeSelection:
    """Problem codes to report, by prefixes; of two that fit the longer one counts."""

    select: tuple[str, ...] = ()
    """Those to report; none for all."""
    ignore: tuple[str, ...] = ()

    def includes(self, code: str) -> bool:
        """Return whether problems of a code are reported.

        Example:
            >>> CodeSelection(select=("FX4",), ignore=("FX402",)).includes("FX402")
            False
        """
        chosen = max((len(prefix) for prefix in self.select if code.startswith(prefix)), default=-1)
        ignored = max((len(prefix) for prefix in self.ignore if code.startswith(prefix)), default=-1)
        return chosen > ignored or (not self.select and ignored < 0)


@dataclass(frozen=True)
class Shard:
    """One of ``count`` shares of the files; each file belongs to one of them by its path."""

    number: int
    """From 1."""
    count: int

    def includes(self, path: str, folder: str) -> bool:
        """Return whether a file belongs to this share, the same on every machine and for every set of files."""
        name = os.path.relpath(path, folder).replace(os.sep, "/")
        digest = blake2b(name.encode("utf-8", "surrogateescape"), digest_size=8).digest()
        return int.from_bytes(digest, "big") % self.count == self.number - 1


def code_prefixes(text: str) -> tuple[str, ...]:
    """Return the prefixes of codes of an option: ``FX1,FX401``.

    Raises:
        argparse.ArgumentTypeError: one is none.
    """
    found = tuple(part.strip().upper() for part in text.split(",") if part.strip())
    for prefix in found:
        if not is_code_prefix(prefix):
            raise argparse.ArgumentTypeError(no_code(prefix))
    if not found:
        raise argparse.ArgumentTypeError("there is no problem code")
    return found


def shard(text: str) -> Shard:
    """Return the share of an option: ``2/5`` for the second of five.

    Raises:
        argparse.ArgumentTypeError: it is none.
    """
    number, _, count = text.partition("/")
    if not (number.isdecimal() and count.isdecimal()) or not 1 <= int(number) <= int(count):
        raise argparse.ArgumentTypeError(f"'{text}' is no share such as 1/4")
    return Shard(int(number), int(count))


def changed_since(revision: str, files: Sequence[str]) -> list[str]:
    """Return the files that differ from a revision of git, and those that import them, directly or not.

    Args:
        revision: a commit, branch or tag; files that git does not know count as changed.
        files: real paths of all files of the run.

    Raises:
        UsageError: git has no such revision, or there is no repository.
    """
    top = _git(["rev-parse", "--show-toplevel"]).strip()
    names = [
        *_git(["diff", "--name-only", "-z", "--end-of-options", revision, "--"]).split("\0"),
        *_git(["ls-files", "--others", "--exclude-standard", "-z", "--full-name", ":/"]).split("\0"),
    ]
    changed = {os.path.realpath(os.path.join(top, name)) for name in names if name}
    return [path for path in files if path in _with_importers(changed, files)]


def _with_importers(changed: Iterable[str], files: Sequence[str]) -> set[str]:
    modules = ModuleFiles(files)
    importers: dict[str, list[str]] = {}
    for path in files:
        for imported in _imported_files(path, modules):
            importers.setdefault(imported, []).append(path)
    reached: set[str] = set()
    waiting = list(changed)
    while waiting:
        path = waiting.pop()
        if path not in reached:
            reached.add(path)
            waiting += importers.get(path, ())
    return reached


def _imported_files(path: str, modules: ModuleFiles) -> Iterator[str]:
    try:
        tree = ast.parse(read_document(path).program.text)
    except (OSError, UnicodeDecodeError, SyntaxError, ValueError):
        return
    for node in ast.walk(tree):
        for name in _module_names(node):
            found = modules.find(name, path)
            if found is not None:
                yield found


def _module_names(node: ast.AST) -> Iterator[str]:
    """Yield the names of the modules that an import may execute; some of them are names in a module."""
    if isinstance(node, ast.Import):
        for alias in node.names:
            parts = alias.name.split(".")
            yield from (".".join(parts[:count]) for count in range(1, len(parts) + 1))
    elif isinstance(node, ast.ImportFrom):
        base = "." * node.level + (node.module or "")
        yield base
        yield from (base + ("" if base.endswith(".") else ".") + alias.name for alias in node.names)


def _git(arguments: list[str]) -> str:
    try:
        ran = subprocess.run(
            ["git", *arguments],
            capture_output=True,
            text=True,
            check=False,
            timeout=_GIT_SECONDS,
            errors="surrogateescape",
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UsageError(f"--diff needs git: {error}") from error
    if ran.returncode:
        last = (ran.stderr.strip().splitlines() or ["it failed"])[-1]
        raise UsageError(f"--diff: git {arguments[0]}: {last}")
    return ran.stdout
