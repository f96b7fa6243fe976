"""Folders for the temporary files of traced code, and their removal, also after a death.

Each supervisor has one folder in the system's temporary folder, and in it one for each worker.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import IO

from ...isolation.child_processes.fds import SUPERVISOR_ONLY

_PREFIX = "fxlsp-"
_LOCK = "in-use"
"""Name of a file that a supervisor keeps locked in its folder."""
_LOCKED = b"locked"
"""What a supervisor writes into the file once it has locked it."""
_LOCKING_SECONDS = 60.0
"""Age below which a file that was never locked is not looked at: its supervisor may be about to lock it."""


class ScratchFolder:
    """Folder that exists while it is held; it is created held by the caller."""

    def __init__(self, parent: str | ScratchFolder) -> None:
        """``parent`` is the folder it is created in; a :class:`ScratchFolder` is held meanwhile."""
        self._parent = parent if isinstance(parent, ScratchFolder) else None
        self.path: str = tempfile.mkdtemp(dir=parent.path if isinstance(parent, ScratchFolder) else parent)
        self._holders = 1
        if self._parent is not None:
            self._parent.hold()

    def hold(self) -> None:
        """Keep the folder until :meth:`release` has been called once more."""
        self._holders += 1

    def release(self) -> None:
        """End one hold; the last one removes the folder with everything in it."""
        self._holders -= 1
        if self._holders == 0:
            shutil.rmtree(self.path, ignore_errors=True)
            if self._parent is not None:
                self._parent.release()


@contextmanager
def supervisor_folder() -> Iterator[str]:
    """Create the folder of this supervisor, and remove those of supervisors that were killed."""
    with suppress(OSError):
        _remove_abandoned(tempfile.gettempdir())
    made = tempfile.TemporaryDirectory(prefix=_PREFIX, ignore_cleanup_errors=True)
    with made as folder, open(os.path.join(folder, _LOCK), "wb") as lock:
        _lock(lock)
        lock.write(_LOCKED)
        lock.flush()
        SUPERVISOR_ONLY.add(lock.fileno())
        yield folder


def _remove_abandoned(temporary: str) -> None:
    with os.scandir(temporary) as entries:
        folders = [entry.path for entry in entries if entry.name.startswith(_PREFIX) and _is_own_folder(entry)]
    for folder in folders:
        with suppress(OSError):
            lock = os.path.join(folder, _LOCK)
            if _may_be_abandoned(os.stat(lock)) and not _is_locked(lock):
                shutil.rmtree(folder, ignore_errors=True)


def _may_be_abandoned(lock: os.stat_result) -> bool:
    return lock.st_size > 0 or time.time() - lock.st_mtime > _LOCKING_SECONDS


def _is_own_folder(entry: os.DirEntry[str]) -> bool:
    if not entry.is_dir(follow_symlinks=False):
        return False
    return sys.platform == "win32" or entry.stat(follow_symlinks=False).st_uid == os.getuid()


if sys.platform == "win32":

    def _lock(file: IO[bytes]) -> None:
        """Do nothing: an open file cannot be removed."""

    def _is_locked(path: str) -> bool:
        try:
            os.unlink(path)
        except PermissionError:
            return True
        return False

else:
    import fcntl

    def _lock(file: IO[bytes]) -> None:
        # Unlike flock, this one is not inherited by forked processes: it ends with the supervisor.
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def _is_locked(path: str) -> bool:
        with open(path, "r+b") as file:
            try:
                fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except OSError:
                return True
        return False
