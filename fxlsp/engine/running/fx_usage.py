"""Search for uses of torch.fx in the workspace folders.

In a folder that uses torch.fx, problems that concern torch.fx alone are problems for the user.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Coroutine, Iterable
from concurrent.futures import Executor
from itertools import islice
from threading import Event
from typing import Any

from fxlsp.engine.index.python_files import IsExcluded, IsStopped, exclude_nothing, files_below, never_stop
from fxlsp.engine.state.folders import exclusion_of
from fxlsp.engine.state.session import FxUse, Session
from fxlsp.engine.state.snapshot import inside
from fxlsp.source.models.fx_usage import fx_use, may_use_fx

_MOST_FILES = 5000
"""Limit of files read in a folder; the user of torch.fx in a file beyond can set the profile in the settings."""


class FxUsageSearch:
    """Updates ``session.fx_uses`` on a thread.

    Open documents are searched in :mod:`fxlsp.engine.state.take_snapshot`.
    """

    def __init__(self, session: Session, executor: Executor, on_change: Callable[[], None]) -> None:
        """
        Args:
            on_change: called after ``session.fx_uses`` has changed.
        """
        self._session = session
        self._executor = executor
        self._on_change = on_change
        self._closing = Event()
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def update_folders(self) -> None:
        """Search the folders that have not been searched and whose profile is "auto"."""
        for path, use in tuple(self._session.fx_uses.items()):
            if use is not None and self._session.is_excluded(use.path):
                self._session.forget_fx_use(path)
        for folder in self._session.folders:
            if folder.path and folder.settings.profile == "auto" and folder.path not in self._session.fx_uses:
                self._run(folder.path, self._search(folder.path, None))

    def files_written(self, paths: Iterable[str]) -> None:
        """Search files again that were written or deleted."""
        paths = [path for path in paths if path.endswith(".py")]
        for folder, use in tuple(self._session.fx_uses.items()):
            within = [path for path in paths if inside(path, folder)]
            if use is None and within:
                self._run(folder, self._search(folder, within))
            elif use is not None and use.path in within:
                self._run(folder, self._search(folder, None))

    @property
    def is_busy(self) -> bool:
        """Whether a folder is being searched."""
        return bool(self._tasks)

    async def close(self) -> None:
        self._closing.set()
        tasks = tuple(self._tasks.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _search(self, folder: str, files: Iterable[str] | None) -> None:
        """Search some files of a folder, by default all."""
        loop, is_stopped = asyncio.get_running_loop(), self._closing.is_set
        is_excluded = exclusion_of(self._session.folders)
        use = await loop.run_in_executor(self._executor, first_use, folder, files, is_stopped, is_excluded)
        if self._session.set_fx_use(folder, use):
            self._on_change()

    def _run(self, folder: str, work: Coroutine[Any, Any, None]) -> None:
        previous = self._tasks.get(folder)
        if previous is not None:
            previous.cancel()
        task = self._tasks[folder] = asyncio.create_task(work)
        task.add_done_callback(lambda done: self._tasks.pop(folder) if self._tasks.get(folder) is done else None)


def first_use(
    folder: str,
    files: Iterable[str] | None = None,
    is_stopped: IsStopped = never_stop,
    is_excluded: IsExcluded = exclude_nothing,
) -> FxUse | None:
    """Return a file of the folder that uses torch.fx; None if there is none.

    Args:
        files: paths of the files to search; None searches all.

    Raises:
        StoppedError: ``is_stopped`` returned True.
    """
    if files is None:
        files = files_below(folder, (".py",), is_stopped, is_excluded)
    for path in islice((path for path in files if not is_excluded(path)), _MOST_FILES):
        try:
            with open(path, "rb") as file:
                data = file.read()
        except OSError:
            continue
        # The names that are searched are ASCII in every encoding.
        words = fx_use(data.decode("latin-1")) if may_use_fx(data) else None
        if words is not None:
            return FxUse(os.path.realpath(path), words)
    return None
