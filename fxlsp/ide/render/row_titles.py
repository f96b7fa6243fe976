"""What tells several modules of one class apart: the arguments in which they differ."""

from __future__ import annotations

from collections.abc import Sequence

_WIDTH = 48


def distinguishing(titles: Sequence[str]) -> list[str]:
    """For ``Conv2d(3, 8, kernel_size=(3, 3))`` beside ``Conv2d(8, 8, kernel_size=(3, 3))``: ``3`` and ``8``.

    Titles of several classes, or with different numbers of arguments, are shortened at their end.
    """
    split = [_split(title) for title in titles]
    heads = {head for head, _ in split}
    counts = {len(arguments) for _, arguments in split}
    if len(heads) > 1 or len(counts) > 1:
        return [_shortened(title) for title in titles]
    columns = [column for column in zip(*(arguments for _, arguments in split), strict=True) if len(set(column)) > 1]
    return [_shortened(", ".join(row)) for row in zip(*columns, strict=True)] if columns else ["" for _ in titles]


def _split(title: str) -> tuple[str, list[str]]:
    """The name before the parenthesis and the arguments in it; commas inside nested brackets do not part."""
    head, parenthesis, rest = title.partition("(")
    if not parenthesis or not rest.endswith(")"):
        return title, []
    arguments, depth = [""], 0
    for character in rest[:-1]:
        depth += (character in "([{") - (character in ")]}")
        if character == "," and depth == 0:
            arguments.append("")
        else:
            arguments[-1] += character
    return head, [argument.strip() for argument in arguments]


def _shortened(title: str) -> str:
    return title if len(title) <= _WIDTH else title[: _WIDTH - 1] + "…"
