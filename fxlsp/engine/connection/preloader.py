"""Import of installed packages in the supervisor, ahead of the models that import them."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable, Iterable, Mapping

_IDLE_SECONDS = 0.1
"""The supervisor answers nothing while it imports, so preloading starts after this time without a trace."""
_MOST_REPEATED_IMPORTS = 3
"""Traces in a row that may each import the same packages; the next one waits until they are preloaded."""


class Preloader:
    """Collects the packages that traces import, and requests each from the supervisor.

    The supervisor imports them once, so that the workers of later traces find them loaded.
    """

    def __init__(self, preload: Callable[[tuple[str, ...]], None]) -> None:
        self._preload = preload
        self._sent_names: set[str] = set()
        self._waiting: set[str] = set()
        self._repeated_imports = 0
        self._timer: asyncio.TimerHandle | None = None
        self._edited: set[str] = set()
        """Packages of installed files that are open with another text than on disk."""
        self._sent_at = time.time()

    def trace_starts(self, texts: Mapping[str, str]) -> None:
        """Record the unsaved texts of a trace, by path."""
        self.stop()
        self._edited |= {
            package for path, text in texts.items() if (package := _package_of(path)) and _differs(path, text)
        }
        self._waiting = self._allowed(self._waiting)
        if self._repeated_imports >= _MOST_REPEATED_IMPORTS:
            self._send_names()

    def trace_ended(self, imports: Iterable[str], idle: bool) -> None:
        """Record the packages that a trace imported.

        Args:
            imports: names of the packages.
            idle: whether no other trace is running.
        """
        self._waiting |= self._allowed(imports) - self._sent_names
        if self._waiting:
            self._repeated_imports += 1
            if idle:
                self.stop()
                self._timer = asyncio.get_running_loop().call_later(_IDLE_SECONDS, self._send_names)

    def is_outdated_for(self, texts: Mapping[str, str]) -> bool:
        """Return whether a file of ``texts`` was edited since its package was imported ahead."""
        imported = {name.partition(".")[0] for name in self._sent_names}
        return any(
            _package_of(path) in imported and _differs(path, text, self._sent_at) for path, text in texts.items()
        )

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _allowed(self, names: Iterable[str]) -> set[str]:
        return {name for name in names if name.partition(".")[0] not in self._edited}

    def _send_names(self) -> None:
        names = tuple(sorted(self._waiting))
        self._sent_at = min(self._sent_at, time.time()) if self._sent_names else time.time()
        self._sent_names |= self._waiting
        self._waiting.clear()
        self._repeated_imports = 0
        self._preload(names)


def _package_of(path: str) -> str:
    """Return the name of the package or module at top level that an installed file belongs to; "" for other files."""
    folder, name = os.path.split(path)
    if "-packages" not in path:
        return ""
    while os.path.isfile(os.path.join(folder, "__init__.py")):
        folder, name = os.path.split(folder)
    return name.removesuffix(".py")


def _differs(path: str, text: str, since: float = float("inf")) -> bool:
    """Return whether a file has another text than on disk, or was written after a time."""
    try:
        if os.stat(path).st_mtime > since:
            return True
        with open(path, encoding="utf-8", newline="") as file:
            return file.read() != text
    except (OSError, ValueError):
        return True
