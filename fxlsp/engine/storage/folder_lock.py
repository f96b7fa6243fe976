"""Lock by which servers take turns to change the files of a folder."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

_WAIT_SECONDS = 2.0
"""Longest wait. Another server writes for milliseconds; one that is stopped in the middle must not stop this one."""
_STEP_SECONDS = 0.01


@contextlib.contextmanager
def folder_lock(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder.

    Where there is no folder yet, the file system has no locks, or another process does not let go of it, the context is
    entered without the lock: a change must not be lost for lack of one.
    """
    descriptor = None
    try:
        with contextlib.suppress(OSError):
            descriptor = _open(folder)
            deadline = time.monotonic() + _WAIT_SECONDS
            while not _try_to_lock(descriptor) and time.monotonic() < deadline:
                time.sleep(_STEP_SECONDS)
        yield
    finally:
        if descriptor is not None:
            # This ends the lock.
            with contextlib.suppress(OSError):
                os.close(descriptor)


if sys.platform == "win32":
    import msvcrt

    def _open(folder: Path) -> int:
        return os.open(folder / "lock", os.O_RDWR | os.O_CREAT)

    def _try_to_lock(descriptor: int) -> bool:
        try:
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except PermissionError:
            return False
        return True

else:
    import fcntl

    def _open(folder: Path) -> int:
        # The folder itself, so that no file is needed for it.
        return os.open(folder, os.O_RDONLY)

    def _try_to_lock(descriptor: int) -> bool:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
