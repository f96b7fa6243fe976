"""Ends the server when the editor's process has ended, in whatever way.

A thread watches the process, not the loop: a loop that is stuck must not keep an orphan alive.
"""

from __future__ import annotations

import os
import select
import sys
import threading
import time

_POLL = 1.0
"""Seconds between two checks, where the system cannot report the end of a process."""


def watch_editor(process_id: int | None) -> None:
    """Start to watch the editor's process, and end this one after it.

    A process that cannot be seen from here is not watched: an editor may run in another container, or on another
    machine.
    """
    if process_id is None or not _is_alive(process_id):
        return
    threading.Thread(target=_watch, args=(process_id,), name="fxlsp-editor-watch", daemon=True).start()


def _watch(process_id: int) -> None:
    """Wait for the end of the process, then end this one."""
    if sys.platform == "linux":
        _wait_for_end(process_id)
    else:
        while _is_alive(process_id):
            time.sleep(_POLL)
    # There is no client left, and threads may hang. The tracing processes end with their pipes.
    os._exit(1)


if sys.platform == "linux":

    def _wait_for_end(process_id: int) -> None:
        try:
            descriptor = os.pidfd_open(process_id)
        except OSError:
            while _is_alive(process_id):
                time.sleep(_POLL)
            return
        select.select([descriptor], [], [])


if sys.platform == "win32":
    import ctypes

    _SYNCHRONIZE = 0x00100000
    _WAIT_TIMEOUT = 0x102

    def _is_alive(process_id: int) -> bool:
        kernel = ctypes.windll.kernel32
        handle = kernel.OpenProcess(_SYNCHRONIZE, False, process_id)
        if not handle:
            return False
        waited = kernel.WaitForSingleObject(handle, 0)
        kernel.CloseHandle(handle)
        return bool(waited == _WAIT_TIMEOUT)

else:

    def _is_alive(process_id: int) -> bool:
        try:
            os.kill(process_id, 0)
        except ProcessLookupError:
            return False
        except PermissionError:
            return True
        return True
