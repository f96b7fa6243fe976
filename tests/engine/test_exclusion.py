"""Patterns of files that are left alone."""

from __future__ import annotations

import pytest

from fxlsp.engine.exclusion import Exclusion


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
    ],
)
def test_a_pattern_excludes_files_and_all_below_folders(pattern: str, excluded: list[str], kept: list[str]) -> None:
    is_excluded = Exclusion("/project/here", (pattern,))
    assert [name for name in excluded if not is_excluded(f"/project/here/{name}")] == []
    assert [name for name in kept if is_excluded(f"/project/here/{name}")] == []
    assert not is_excluded(f"/elsewhere/{excluded[0]}")


def test_without_patterns_nothing_is_excluded() -> None:
    assert not Exclusion("/project", ())("/project/a.py")
