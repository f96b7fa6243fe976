"""Random edits of a model: numbers, lines, names, comments, half typed text."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

Edit = tuple[int, int, str]
"""Start and end offset in the text, and the inserted text."""

_PIECES = ("x", "(", ")", "\n", "    ", "😀", '"', "self.", "# grün 😀\n", " + x", ":", "import torch\n")


def random_edit(random: Random, text: str) -> Edit:
    """Return one edit of a text that is not empty."""
    ways: tuple[Callable[[Random, str], Edit], ...]
    ways = (_number, _number, _comment, _comment, _line_less, _line_twice, _lines_swapped, _other_name, _typed)
    return random.choice(ways)(random, text)


def _number(random: Random, text: str) -> Edit:
    found = random.choice([*re.finditer(r"\b\d+\b", text)] or [re.match("", text)])
    assert found is not None
    return found.start(), found.end(), str(random.choice((1, 2, 3, 8, 16, 64)))


def _comment(random: Random, text: str) -> Edit:
    start, end = random.choice(_lines(text))
    indent = text[start:end][: len(text[start:end]) - len(text[start:end].lstrip())]
    return start, start, f"{indent}# grün 😀 𝒳\n"


def _line_less(random: Random, text: str) -> Edit:
    start, end = random.choice(_lines(text))
    return start, end, ""


def _line_twice(random: Random, text: str) -> Edit:
    start, end = random.choice(_lines(text))
    return end, end, text[start:end]


def _lines_swapped(random: Random, text: str) -> Edit:
    lines = _lines(text)
    first = random.randrange(max(1, len(lines) - 1))
    (start, middle), (_, end) = lines[first], lines[min(first + 1, len(lines) - 1)]
    return start, end, text[middle:end] + text[start:middle]


def _other_name(random: Random, text: str) -> Edit:
    names = [*re.finditer(r"\b[a-z]\w*\b", text)]
    return *random.choice(names).span(), random.choice(names)[0]


def _typed(random: Random, text: str) -> Edit:
    start = random.randrange(len(text))
    return start, min(len(text), start + random.choice((0, 0, 1, 5))), random.choice(_PIECES)


def _lines(text: str) -> list[tuple[int, int]]:
    return [found.span() for found in re.finditer(r".*\n", text)]
