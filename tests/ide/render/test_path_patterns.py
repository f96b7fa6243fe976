from __future__ import annotations

import re
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fxlsp.ide.render.path_patterns import compact_paths


@pytest.mark.parametrize(
    ("paths", "text"),
    [
        (["stem"], "stem"),
        (["stem", "head"], "stem, head"),
        (["layer1.0", "layer1.1"], "layer1.{0,1}"),
        (["layer1.0.conv2", "layer1.1.conv1", "layer1.1.conv2"], "layer1.{0,1}.conv2, layer1.1.conv1"),
        ([f"blocks.{number}.attn" for number in range(12)], "blocks.{0..11}.attn"),
        (["blocks.0", "blocks.2", "blocks.4"], "blocks.{0,2,4}"),
        ([f"h.{number}.{name}" for number in range(3) for name in "qkv"], "h.{0..2}.{q,k,v}"),
        (["a.x", "b.y", "c.z", "d.w", "e"], "a.x, b.y, c.z (+2 more)"),
        (["a.x", "a.x"], "a.x"),
    ],
)
def test_paths_that_differ_in_one_part_are_written_as_one(paths: list[str], text: str) -> None:
    assert compact_paths(paths) == text


PARTS = st.sampled_from(["a", "b", "0", "1", "2", "3"])


@given(st.lists(st.lists(PARTS, min_size=1, max_size=3).map(".".join), min_size=1, max_size=3, unique=True))
def test_what_is_written_spells_the_paths_and_no_others(paths: list[str]) -> None:
    # At most three paths, so that none is merely counted.
    assert sorted(spelled(compact_paths(paths))) == sorted(paths)


def spelled(text: str) -> list[str]:
    patterns = re.findall(r"(?:\{[^}]*\}|[^{}, ])+", text)
    # A range of whole paths has no braces: ``1..3``.
    part = r"\{[^}]*\}|^\d+\.\.\d+$|[^.{}]+"
    choices = [[alternatives(each) for each in re.findall(part, pattern)] for pattern in patterns]
    return [".".join(parts) for each in choices for parts in product(*each)]


def alternatives(part: str) -> list[str]:
    inside = part.strip("{}")
    first, dots, last = inside.partition("..")
    return [str(number) for number in range(int(first), int(last) + 1)] if dots else inside.split(",")
