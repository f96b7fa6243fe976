"""Containment of a worker by the operating system, below Python.

Only Linux offers it without privileges. Elsewhere the audit hook (:mod:`.audit`) is all there is.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import suppress

from .landlock import (
    NO_LANDLOCK,
    allow_changes_only_in,
    landlock_version,
    signals_are_refused,
    truncation_is_refused,
)
from .seccomp import SystemCallFilter, give_up_privileges, has_seccomp


class Containment:
    """Refusal of changes outside a folder, of connections and of programs, prepared once for many processes."""

    def __init__(self, parent: int, landlock: int | None = None, seccomp: bool | None = None) -> None:
        """
        Args:
            parent: Id of the process whose children will be contained.
            landlock: Version of the Landlock interface to use; by default that of the system.
            seccomp: Whether to use seccomp; by default, whether the system has it.
        """
        self.landlock = landlock_version() if landlock is None else landlock
        """Version of the Landlock interface, which refuses changes of files; :data:`NO_LANDLOCK` without it."""
        self._filter = None
        if has_seccomp() if seccomp is None else seccomp:
            self._filter = SystemCallFilter(
                protected=() if signals_are_refused(self.landlock) else tuple(_line_of(parent)),
                refuse_truncation=self.landlock != NO_LANDLOCK and not truncation_is_refused(self.landlock),
            )

    @property
    def files(self) -> bool:
        """Whether the system refuses to change files outside the folder, whatever language does so."""
        return self.landlock != NO_LANDLOCK

    @property
    def calls(self) -> bool:
        """Whether the system refuses connections, programs, and signals to fxlsp, whatever language does so."""
        return self._filter is not None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of what the system refuses, as in :class:`~fxlsp.wire.messages.Hello`."""
        return (*(("files",) if self.files else ()), *(("calls",) if self.calls else ()))

    def apply(self, scratch: str) -> None:
        """Restrict this process and its later children; ``scratch`` is the folder that they may change.

        It has to be called while the process has one thread: others would not be restricted.

        Raises:
            OSError: The system refuses.
        """
        if self.files or self._filter is not None:
            give_up_privileges()
        if self.files:
            allow_changes_only_in(scratch, self.landlock)
        if self._filter is not None:
            self._filter.install()


def working_containment(parent: int) -> Containment:
    """Return the strongest containment that works here.

    A system may offer one and refuse it where it is used, in some containers for example. So a child process tries it.

    Args:
        parent: Id of the process whose children will be contained.
    """
    if not hasattr(os, "fork"):
        return Containment(parent, NO_LANDLOCK, False)
    offered = Containment(parent)
    attempts = [(offered.landlock, offered.calls), (offered.landlock, False), (NO_LANDLOCK, offered.calls)]
    for landlock, seccomp in attempts:
        containment = Containment(parent, landlock, seccomp)
        if not containment.names or _works(containment):
            return containment
    return Containment(parent, NO_LANDLOCK, False)


def _works(containment: Containment) -> bool:
    pid = os.fork()
    if pid == 0:
        with suppress(OSError):
            containment.apply(tempfile.gettempdir())
            os._exit(0)
        os._exit(1)
    return os.waitpid(pid, 0)[1] == 0


def _line_of(pid: int) -> Iterator[int]:
    """Yield a process, those that it descends from, their groups as negative numbers, and -1, which means all."""
    yield -1
    while pid > 1:
        yield pid
        with suppress(OSError):
            group = os.getpgid(pid)
            if group > 0:
                yield -group
        pid = _parent(pid)


def _parent(pid: int) -> int:
    with suppress(OSError, IndexError, ValueError), open(f"/proc/{pid}/stat", "rb") as file:
        # The second field is the name in parentheses, which may contain spaces and parentheses.
        return int(file.read().rpartition(b")")[2].split()[1])
    return 0
