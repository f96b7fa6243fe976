"""Locks of ``multiprocessing`` that no other process shares.

Those of the system are files that all programs see, which a trace must not make. A trace has one process, so locks
between threads do the same.
"""

from __future__ import annotations

import importlib
import sys
import threading
from typing import Any

_RECURSIVE_MUTEX = 0
"""Kind of a lock; otherwise it is a semaphore."""


class LocalSemaphore:
    """Replacement for ``_multiprocessing.SemLock``, with its methods."""

    SEM_VALUE_MAX = 2**31 - 1

    def __init__(self, kind: int, value: int, maxvalue: int, name: str, unlink: bool) -> None:
        self.kind = kind
        self.maxvalue = maxvalue
        self.name = None
        """None for one that does not have to be removed."""
        self.handle = 0
        self._value = value
        self._changed = threading.Condition()
        self._owner: int | None = None
        self._depth = 0

    def acquire(self, block: bool = True, timeout: float | None = None) -> bool:
        """Take the lock or one of the semaphore; return whether that was possible in ``timeout`` seconds."""
        if self.kind == _RECURSIVE_MUTEX and self._is_mine():
            self._depth += 1
            return True
        with self._changed:
            wait = None if timeout is None else max(0.0, timeout)
            if not self._changed.wait_for(lambda: self._value > 0, wait if block else 0):
                return False
            self._value -= 1
            self._owner = threading.get_ident()
            self._depth += 1
            return True

    def release(self) -> None:
        """Give back what was taken.

        Raises:
            AssertionError: A lock is not this thread's.
            ValueError: A semaphore has its largest value already.
        """
        with self._changed:
            if self.kind == _RECURSIVE_MUTEX:
                if not self._is_mine():
                    raise AssertionError("attempt to release recursive lock not owned by thread")
                self._depth -= 1
                if self._depth:
                    return
                self._owner = None
            elif self._value >= self.maxvalue:
                raise ValueError("semaphore or lock released too many times")
            else:
                self._depth -= 1
            self._value += 1
            self._changed.notify()

    def __enter__(self) -> bool:
        return self.acquire()

    def __exit__(self, *exception: object) -> None:
        self.release()

    def _is_mine(self) -> bool:
        return self._depth > 0 and self._owner == threading.get_ident()

    def _count(self) -> int:
        return self._depth

    def _get_value(self) -> int:
        return self._value

    def _is_zero(self) -> bool:
        return self._value == 0

    def _after_fork(self) -> None:
        self._depth = 0


def keep_semaphores_local() -> None:
    """Let ``multiprocessing`` make locks of this process alone."""
    if sys.platform == "win32":
        return
    # The C module behind ``multiprocessing``, which type checkers do not know.
    module: Any = importlib.import_module("_multiprocessing")
    module.SemLock = LocalSemaphore
    module.sem_unlink = lambda name: None
    synchronize: Any = sys.modules.get("multiprocessing.synchronize")
    if synchronize is not None:
        synchronize.sem_unlink = module.sem_unlink
        synchronize.SEM_VALUE_MAX = LocalSemaphore.SEM_VALUE_MAX
