"""Children, memory and priority of other processes, for each operating system."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Iterator
from contextlib import suppress

_LOW_PRIORITY = 10
"""POSIX niceness."""


def children_of(pid: int) -> Iterator[int]:
    """Yield the child processes of a process; none where the system does not list them."""
    with suppress(OSError):
        for thread in os.listdir(f"/proc/{pid}/task"):
            with suppress(OSError, ValueError), open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                yield from map(int, file.read().split())


def resident_megabytes(pid: int) -> float:
    """Return the resident memory of a process, MiB; 0 if unknown."""
    try:
        return _resident_bytes(pid) / 2**20
    except (OSError, IndexError):
        return 0.0


if sys.platform == "win32":
    _BELOW_NORMAL_PRIORITY_CLASS = 0x4000
    _QUERY_AND_SET = 0x1000 | 0x0200
    """PROCESS_QUERY_LIMITED_INFORMATION and PROCESS_SET_INFORMATION."""

    class _Counters(ctypes.Structure):
        """PROCESS_MEMORY_COUNTERS."""

        _fields_ = [
            ("size", ctypes.c_uint32),
            ("page_faults", ctypes.c_uint32),
            *((name, ctypes.c_size_t) for name in ("peak_working_set", "working_set", "a", "b", "c", "d", "e", "f")),
        ]
        working_set: int

    def _open(pid: int) -> ctypes.c_void_p:
        kernel = ctypes.windll.kernel32
        kernel.OpenProcess.restype = ctypes.c_void_p
        handle = kernel.OpenProcess(_QUERY_AND_SET, False, pid)
        if not handle:
            raise OSError(f"there is no process {pid}")
        return ctypes.c_void_p(handle)

    def _resident_bytes(pid: int) -> int:
        handle, counters = _open(pid), _Counters(size=ctypes.sizeof(_Counters))
        try:
            ctypes.windll.kernel32.K32GetProcessMemoryInfo(handle, ctypes.byref(counters), counters.size)
        finally:
            ctypes.windll.kernel32.CloseHandle(handle)
        return counters.working_set

    def lower_priority(pid: int) -> None:
        """Lower the priority of a process."""
        with suppress(OSError):
            handle = _open(pid)
            ctypes.windll.kernel32.SetPriorityClass(handle, _BELOW_NORMAL_PRIORITY_CLASS)
            ctypes.windll.kernel32.CloseHandle(handle)

else:
    if sys.platform == "darwin":

        def _resident_bytes(pid: int) -> int:
            task_info = (ctypes.c_uint64 * 12)()
            """``struct proc_taskinfo``: virtual size, resident size, and fields that are not used."""
            read = ctypes.CDLL(None).proc_pidinfo(
                pid, 4, ctypes.c_uint64(0), ctypes.byref(task_info), ctypes.sizeof(task_info)
            )
            return int(task_info[1]) if read > 0 else 0

    else:

        def _resident_bytes(pid: int) -> int:
            with open(f"/proc/{pid}/statm", encoding="ascii") as file:
                return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def lower_priority(pid: int) -> None:
        """Lower the priority of a process, and of its group if it leads one; a lower one stays."""
        with suppress(OSError):
            which = os.PRIO_PGRP if os.getpgid(pid) == pid else os.PRIO_PROCESS
            os.setpriority(which, pid, max(_LOW_PRIORITY, os.getpriority(which, pid)))
