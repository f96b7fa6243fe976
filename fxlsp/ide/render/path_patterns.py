"""Many module paths as few: ``layer1.{0,1}.conv2``, ``blocks.{0..11}.attn``."""

from __future__ import annotations

from collections.abc import Sequence

_SHOWN = 3
"""How many patterns are written out."""
_RANGE = 3
"""Smallest number of consecutive numbers that is written as a range."""

_Pattern = tuple[tuple[str, ...], ...]
"""For each part of the path, its alternatives."""


def compact_paths(paths: Sequence[str]) -> str:
    """Return the paths as few patterns that spell each path and no other.

    After three patterns, the remaining paths are only counted: ``stem, layer1.0, layer2.1 (+5 more)``.
    """
    distinct = list(dict.fromkeys(paths))
    patterns = _merged([tuple((part,) for part in path.split(".")) for path in distinct])
    if len(patterns) <= _SHOWN:
        return ", ".join(map(_text, patterns))
    hidden = sum(_count(pattern) for pattern in patterns[_SHOWN:])
    return f"{', '.join(map(_text, patterns[:_SHOWN]))} (+{hidden} more)"


def _merged(patterns: list[_Pattern]) -> list[_Pattern]:
    """Return patterns merged where they differ in one part.

    Numbers are merged first, because they count repeated layers.
    """
    for numbers in (True, False):
        for part in range(max(map(len, patterns))):
            patterns = _merged_at(patterns, part, numbers)
    return patterns


def _merged_at(patterns: list[_Pattern], part: int, numbers: bool) -> list[_Pattern]:
    groups: dict[tuple[_Pattern, bool], _Pattern] = {}
    for pattern in patterns:
        may = part < len(pattern) and _may_merge(pattern, part, numbers)
        rest = (*pattern[:part], (), *pattern[part + 1 :]) if may else pattern
        met = groups.get((rest, may))
        merged = pattern if met is None else (*rest[:part], (*met[part], *pattern[part]), *rest[part + 1 :])
        groups[rest, may] = merged
    return list(groups.values())


def _may_merge(pattern: _Pattern, part: int, numbers: bool) -> bool:
    """Return whether patterns may be merged at a part.

    Names alone are not merged: ``{stem,head}`` is harder to read than both.
    """
    return (numbers or len(pattern) > 1) and all(item.isdecimal() for item in pattern[part]) == numbers


def _count(pattern: _Pattern) -> int:
    count = 1
    for items in pattern:
        count *= len(items)
    return count


def _text(pattern: _Pattern) -> str:
    if len(pattern) == 1:
        return _listed(pattern[0])
    return ".".join(items[0] if len(items) == 1 else "{" + _listed(items) + "}" for items in pattern)


def _listed(items: Sequence[str]) -> str:
    if len(items) >= _RANGE and all(item.isdecimal() for item in items):
        first = int(items[0])
        if [int(item) for item in items] == list(range(first, first + len(items))):
            return f"{items[0]}..{items[-1]}"
    return ",".join(items)
