"""The files of a folder that fxlsp is to leave alone, by patterns as in ``.gitignore``."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from functools import lru_cache


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Patterns that count from a folder.

    ``*`` and ``?`` stand for characters of one name, ``**`` for any folders. A pattern without a slash is for names at
    any depth; one that fits a folder is for all below it.
    """

    folder: str = ""
    """Real and absolute."""
    patterns: tuple[str, ...] = ()

    def __call__(self, path: str) -> bool:
        """Whether a file, or all of a folder, is left out; ``path`` is real and absolute."""
        if not self.patterns or not path.startswith(self.folder.rstrip("/\\") + os.sep):
            return False
        parts = os.path.relpath(path, self.folder).replace(os.sep, "/").split("/")
        above = ["/".join(parts[:end]) for end in range(1, len(parts) + 1)]
        return any(_pattern(pattern).fullmatch(name) for pattern in self.patterns for name in above)


NOTHING = Exclusion()


@lru_cache(maxsize=256)
def _pattern(text: str) -> re.Pattern[str]:
    stripped = text.removeprefix("./").strip("/")
    anchored = "/" in stripped or text.startswith(("/", "./"))
    tokens = re.split(r"(\*\*/|\*\*|\*|\?)", stripped if anchored else f"**/{stripped}")
    return re.compile("".join(_TOKENS.get(token) or re.escape(token) for token in tokens))


_TOKENS = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
