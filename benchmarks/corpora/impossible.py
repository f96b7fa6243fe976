"""Classes of pytorch-jit-paritybench that cannot run, whatever they are given: reviewed data, with a reason for each.

``impossible.json`` says for a file of the corpus its SHA-1 and which of its classes cannot run, and why. What counts
runs unconditionally: statements of ``forward``, of the constructor, and of what these call of the same file. It was
computed once from the text alone, by rules that the history of this file has, and reviewed: 22 classes went whose
abstract ``__call__`` torch's module defines, names that nothing binds were looked for again in the text, and of 1,700
classes that the search was run with, none that it found is in it. A file with another text has no entry.
"""

from __future__ import annotations

import hashlib
import json
import re
from functools import cache, lru_cache
from pathlib import Path
from typing import TypedDict

DATA = Path(__file__).with_suffix(".json")
KINDS = tuple(
    re.compile(pattern)
    for pattern in (
        r"it has an abstract method",
        r"\w+ raises in any case",
        r"\w+ calls itself in any case",
        r"it calls \w+ of its file, which does not take these arguments",
        r"it passes on to \w+ of its file what that does not take",
        r"nothing binds \w+, which it takes from a module of its project",
        r"nothing that runs sets \w+",
        r"an instance of \w+, an autograd\.Function, cannot be called",
        r"torch\.nn takes no module of the name '.*'",
        r"\w+ is a configuration that the corpus left empty, so \w+ is not in it",
        r"\w+ is empty, so \w+ is not in it",
        r"\w+ is (a constant|a function|torchvision[\w.]+), which has no \w+",
    )
)
"""The reasons that there are."""


class FileEntry(TypedDict):
    """What is known of one file of the corpus."""

    sha1: str
    classes: dict[str, str]
    """Those that cannot run, and why."""


def cannot_run(file: str, name: str) -> str | None:
    """Return why a class cannot run whatever it is given; None if that is not known of it."""
    entry = entries().get(Path(file).name)
    if entry is None or name not in entry["classes"] or _digest(file) != entry["sha1"]:
        return None
    return entry["classes"][name]


@cache
def entries() -> dict[str, FileEntry]:
    """Return what is known, by the names of files."""
    found: dict[str, FileEntry] = json.loads(DATA.read_text(encoding="utf-8"))
    return found


@lru_cache(maxsize=4)
def _digest(file: str) -> str:
    return hashlib.sha1(Path(file).read_bytes()).hexdigest()
