"""Patterns of excluded files have the meaning they have in ``.gitignore``."""

from __future__ import annotations

import os
import random
import shutil
import subprocess
from collections.abc import Iterable
from pathlib import Path

import pytest

from fxlsp.engine.index.python_files import files_below, never_stop
from fxlsp.engine.settings.exclusion import Exclusion
from fxlsp.engine.state.folders import combined_exclusion

FILES = ("a.py", "b/a.py", "b/b.py", "b/c/a.py", "b/c/x1.py", "c/b/a.py", "c/c/b.py", "c/#a.py", "x1.py")
SEGMENTS = ("a.py", "b", "c", "*", "**", "***", "*.py", "?", "[ab].py", "[!b]*", "x[0-9].py", r"\#a.py", "[[:alpha:]]")


@pytest.mark.parametrize(
    ("pattern", "excluded", "kept"),
    [
        ("vendored", ["vendored", "vendored/a.py", "sub/vendored/b/c.py"], ["vendored2/a.py", "a.py", "sub/a.py"]),
        ("*_pb2.py", ["a_pb2.py", "sub/b_pb2.py"], ["a_pb3.py", "a_pb2.pyx"]),
        ("/build", ["build/a.py"], ["sub/build/a.py"]),
        ("./a.py", ["a.py"], ["sub/a.py"]),
        ("tests/data/", ["tests/data/a.py", "tests/data/b/c.py"], ["tests/a.py", "sub/tests/data/a.py"]),
        ("tests/**/data", ["tests/data/a.py", "tests/b/c/data/a.py"], ["tests/b.py"]),
        ("tests/*/data", ["tests/b/data/a.py"], ["tests/data/a.py", "tests/b/c/data/a.py"]),
        ("**/gen?.py", ["gen1.py", "a/b/gen2.py"], ["gen.py", "gen12.py"]),
        ("a+b", ["a+b/c.py"], ["aab/c.py"]),
        ("data/", ["data/", "sub/data/", "data/a.py"], ["data", "sub/data"]),
        ("tests/**", ["tests/a.py", "tests/b/"], ["tests/"]),
        ("gen[0-9].py", ["gen1.py"], ["gen[0-9].py", "genx.py"]),
        ("gen[!0-9].py", ["genx.py"], ["gen1.py"]),
        ("[a", [], ["[a", "a"]),
        (r"\[a", ["[a"], ["a"]),
        ("# a comment", [], ["# a comment"]),
        (r"\#a.py", ["#a.py"], ["a.py"]),
        (r"\!a.py", ["!a.py"], ["a.py"]),
        ("a.py  ", ["a.py"], ["a.py  "]),
        ("", [], ["a.py"]),
        ("/", [], ["a.py", "b/"]),
    ],
)
def test_a_pattern_excludes_files_and_all_below_folders(pattern: str, excluded: list[str], kept: list[str]) -> None:
    is_excluded = Exclusion("/project/here", (pattern,))
    assert [name for name in excluded if not is_excluded(f"/project/here/{name}")] == []
    assert [name for name in kept if is_excluded(f"/project/here/{name}")] == []
    assert not is_excluded(f"/elsewhere/{(excluded or kept)[0]}")


@pytest.mark.parametrize(
    ("patterns", "excluded"),
    [
        (["b/*", "!b/b.py"], ["b/a.py", "b/c/a.py", "b/c/x1.py"]),
        (["!b/b.py", "b/*"], ["b/a.py", "b/b.py", "b/c/a.py", "b/c/x1.py"]),
        # No file of an excluded folder is brought back.
        (["b", "!b/b.py"], ["b/a.py", "b/b.py", "b/c/a.py", "b/c/x1.py", "c/b/a.py"]),
        # Everything except the files of one folder.
        (["/*", "!/c"], ["a.py", "b/a.py", "b/b.py", "b/c/a.py", "b/c/x1.py", "x1.py"]),
        (["*.py", "!x1.py"], ["a.py", "b/a.py", "b/b.py", "b/c/a.py", "c/#a.py", "c/b/a.py", "c/c/b.py"]),
        # `!c` brings back the folders alone, not the files in them.
        (["*", "!c"], list(FILES)),
        (["!a.py"], []),
    ],
)
def test_the_last_pattern_that_matches_counts(patterns: list[str], excluded: list[str]) -> None:
    is_excluded = Exclusion("/p", tuple(patterns))
    assert sorted(name for name in FILES if is_excluded(f"/p/{name}")) == sorted(excluded)


@pytest.mark.skipif(shutil.which("git") is None, reason="compares with git")
def test_git_says_the_same_of_any_patterns(tmp_path: Path) -> None:
    made(tmp_path)
    subprocess.run(["git", "init", "-q", "."], cwd=tmp_path, check=True)
    names = [*FILES, *sorted({f"{parent}/" for name in FILES for parent in parents(name)})]
    choose = random.Random(15)
    for _ in range(60):
        patterns = [pattern(choose) for _ in range(choose.choice([1, 2, 3, 4]))]
        is_excluded = Exclusion("/p", tuple(patterns))
        excluded = {name.rstrip("/") for name in names if is_excluded(f"/p/{name}")}
        assert excluded == ignored(tmp_path, patterns, names), patterns


def test_a_walk_does_not_enter_excluded_folders(tmp_path: Path) -> None:
    made(tmp_path)
    root = str(tmp_path.resolve())
    # A folder is excluded by the folder around it, not by itself.
    is_excluded = combined_exclusion(
        [(root, Exclusion(root, ("b/", "!a.py"))), (f"{root}/c", Exclusion(f"{root}/c", ("*",)))]
    )
    assert [os.path.relpath(path, root) for path in files_below(root, (".py",), never_stop, is_excluded)] == [
        "a.py",
        "x1.py",
    ]
    assert not is_excluded(f"{root}/c/")


def test_without_patterns_nothing_is_excluded() -> None:
    assert not Exclusion("/project", ())("/project/a.py")


def made(folder: Path) -> None:
    """Create the files, empty."""
    for name in FILES:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()


def parents(name: str) -> Iterable[str]:
    """Yield the names of the folders around a file."""
    return (str(each) for each in Path(name).parents if str(each) != ".")


def pattern(choose: random.Random) -> str:
    """Return a random pattern."""
    text = "/".join(choose.choice(SEGMENTS) for _ in range(choose.choice([1, 1, 2, 3])))
    return choose.choice(["", "", "!"]) + choose.choice(["", "", "/"]) + text + choose.choice(["", "", "/"])


def ignored(folder: Path, patterns: Iterable[str], names: Iterable[str]) -> set[str]:
    """Return the names that git ignores, folders without the slash at their end.

    git finds on disk which of them are folders.
    """
    (folder / ".gitignore").write_text("\n".join(patterns) + "\n", encoding="utf-8")
    lines = "\n".join(name.rstrip("/") for name in names)
    command = ["git", "-c", "core.quotePath=false", "check-ignore", "--no-index", "--stdin"]
    asked = subprocess.run(command, cwd=folder, input=lines, capture_output=True, text=True, check=False)
    return set(asked.stdout.splitlines())
