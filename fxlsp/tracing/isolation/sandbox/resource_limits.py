"""Limits of a traced model that the system enforces: open files, the size of a file, and processes."""

from __future__ import annotations

import errno
import sys
from contextlib import suppress

from ....wire.messages import Limits

_REACHED = {errno.EMFILE: "limits.openFiles", errno.EFBIG: "limits.writtenMegabytes"}
_OTHER_TASKS = 512
"""Processes and threads that the user may start elsewhere while a trace runs: the system counts all of one user."""


def reached_limit(error: BaseException) -> str | None:
    """Return the setting of the limit that an error of the system is about."""
    return _REACHED.get(error.errno or 0) if isinstance(error, OSError) else None


if sys.platform == "win32":

    def limit_resources(limits: Limits) -> None:
        """Do nothing: Windows has no such limits."""

else:
    import resource

    def limit_resources(limits: Limits) -> None:
        """Limit this process and those that it starts. Limits that are stricter already stay.

        The supervisor ends a trace with more than ``limits.processes``; the system's limit keeps one that starts them
        faster than that from exhausting the system. It does not hold for root.
        """
        _lower(resource.RLIMIT_NOFILE, limits.open_files)
        _lower(resource.RLIMIT_FSIZE, int(limits.written_megabytes * 2**20))
        tasks = _all_tasks()
        if tasks is not None:
            _lower(resource.RLIMIT_NPROC, tasks + limits.processes + _OTHER_TASKS)

    def _lower(kind: int, value: int) -> None:
        soft, hard = resource.getrlimit(kind)
        lowered = min([value, *(limit for limit in (soft, hard) if limit != resource.RLIM_INFINITY)])
        with suppress(OSError, ValueError):
            resource.setrlimit(kind, (lowered, lowered))

    def _all_tasks() -> int | None:
        """Return how many processes and threads the system has; None if unknown."""
        with suppress(OSError, IndexError, ValueError), open("/proc/loadavg", encoding="ascii") as file:
            return int(file.read().split()[3].partition("/")[2])
        return None
