"""Suggestions for names that do not exist."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


def did_you_mean(name: str, known: Iterable[str], similarity: float = 0.6) -> str:
    """Return the end of a message with the known name that is most similar; "" if none is.

    ``similarity`` is the least one by difflib, from 0 to 1.

    Example:
        >>> did_you_mean("ResNt", ["ResNet", "VGG"])
        '; did you mean ResNet?'
    """
    # Of equally similar names the first: the order of a set differs from run to run.
    ordered = sorted(set(known) - {name})
    same = [each for each in ordered if each.casefold() == name.casefold()]
    close = same or difflib.get_close_matches(name, ordered, 1, similarity)
    return f"; did you mean {close[0]}?" if close else ""
