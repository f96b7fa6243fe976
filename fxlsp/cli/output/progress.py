"""What a command that takes long says meanwhile, on standard error, where someone is looking."""

from __future__ import annotations

import sys


class Progress:
    """One line that is written over again; nothing where standard error is not a terminal."""

    def __init__(self) -> None:
        self._visible = sys.stderr.isatty()

    def show(self, text: str) -> None:
        if self._visible:
            sys.stderr.write(f"\r\033[K{text[:100]}")
            sys.stderr.flush()

    def clear(self) -> None:
        self.show("")
