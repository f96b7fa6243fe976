"""Texts of files that are not open, for the related places of problems.

Publishers run on the loop between two keystrokes, and must not wait for a disk: they show the places in the texts that
are known, and publish again when others have been read.
"""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import Callable, Iterable

from fxlsp.engine.running.engine import SnapshotChange
from fxlsp.engine.running.file_cache import FileCache
from fxlsp.source.text.documents import Document

_MOST_TEXTS = 1024
"""Limit of known texts: above what the problems of all open files name together, since a text is read once a trace."""


class RelatedTexts:
    """Texts as last read on a thread. Use it on one running loop."""

    def __init__(self, disk: FileCache) -> None:
        self._disk = disk
        self._known: OrderedDict[str, Document | None] = OrderedDict()
        self._requested: set[str] = set()
        """Files whose texts need not be looked at before the next trace ends."""
        self._to_read: set[str] = set()
        self._reading: asyncio.Task[None] | None = None
        self._subscribers: list[Callable[[], None]] = []

    def subscribe(self, on_change: Callable[[], None]) -> None:
        """Call ``on_change`` whenever a text has another content than was returned before."""
        self._subscribers.append(on_change)

    def follow(self, change: SnapshotChange) -> None:
        """Follow a change of the session: a trace may have read newer texts, an edit has read none."""
        if change.cause != "edit":
            self._requested.clear()

    def document(self, path: str) -> Document | None:
        """Return the text of a file as it was last read; None if it cannot be read, or has not been read yet."""
        if path not in self._requested:
            self._requested.add(path)
            self._to_read.add(path)
            if self._reading is None:
                self._reading = asyncio.get_running_loop().create_task(self._read())
        return self._known.get(path)

    async def close(self) -> None:
        if self._reading is not None:
            self._reading.cancel()
            await asyncio.gather(self._reading, return_exceptions=True)

    async def _read(self) -> None:
        try:
            while self._to_read:
                paths = sorted(self._to_read)
                self._to_read.clear()
                texts = await asyncio.to_thread(self._read_all, paths)
                changed = [path for path, text in texts if self._take(path, text)]
                for on_change in self._subscribers if changed else ():
                    on_change()
        finally:
            self._reading = None

    def _read_all(self, paths: Iterable[str]) -> list[tuple[str, Document | None]]:
        return [(path, self._disk.read(path)) for path in paths]

    def _take(self, path: str, document: Document | None) -> bool:
        # The cache returns the same object for an unchanged text.
        changed = self._known.get(path) is not document
        self._known[path] = document
        self._known.move_to_end(path)
        while len(self._known) > _MOST_TEXTS:
            self._known.popitem(last=False)
        return changed
