"""Forking a process that belongs to another one: the template reaps and ends it as its own."""

from __future__ import annotations

import os
import time

from .lifetime import die_with_parent

_exit = os._exit
"""Taken before last words are arranged: the process in the middle ends without any."""


def fork_for(adopter: int) -> int:
    """The number of a new process whose parent is ``adopter``, which adopts orphans below it; 0 in the new process.

    The new process dies with ``adopter``, and leads a session of its own.

    Raises:
        OSError: no process can be forked.
    """
    told, tell = os.pipe()
    try:
        middle = os.fork()
        if middle == 0:
            _fork_and_end(tell)
            _await_adoption(adopter)
        else:
            os.close(tell)
            tell = -1
            answer = os.read(told, 64)
            os.waitpid(middle, 0)
    finally:
        for descriptor in (told, tell):
            if descriptor >= 0:
                os.close(descriptor)
    if middle == 0:
        return 0
    if not answer:
        raise OSError("no process could be forked")
    return int(answer)


def _fork_and_end(tell: int) -> None:
    """Returns in the process that it forks."""
    child = 0
    try:
        child = os.fork()
        if child:
            os.write(tell, str(child).encode())
    except BaseException:
        _exit(1)
    if child:
        _exit(0)


def _await_adoption(adopter: int) -> None:
    os.setsid()
    deadline = time.monotonic() + 10
    while os.getppid() != adopter and time.monotonic() < deadline:
        time.sleep(0.0005)
    die_with_parent(adopter)
