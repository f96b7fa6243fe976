"""A supervisor whose system runs out of something: after SIGUSR2, of what a file names; nothing while there is none.

"processes": no fork succeeds. A number: only so many descriptors are left.
"""

from __future__ import annotations

import errno
import os
import resource
import runpy
import signal
import sys
from contextlib import suppress

LACKING = os.environ["FXLSP_TEST_EXHAUSTED"]
fork = os.fork
filling: list[int] = []


def lacking() -> str:
    with suppress(OSError), open(LACKING, encoding="ascii") as file:
        return file.read()
    return ""


def fork_unless_exhausted() -> int:
    if exhausted[0]:
        raise BlockingIOError(errno.EAGAIN, os.strerror(errno.EAGAIN))
    return fork()


def change(*_: object) -> None:
    while filling:
        os.close(filling.pop())
    (own,) = (module.SUPERVISOR_ONLY for name, module in sys.modules.items() if name.endswith(".child_processes.fds"))
    own.difference_update(taken)
    taken.clear()
    wanted = lacking()
    exhausted[:] = [wanted == "processes"]
    if wanted.isdecimal():
        with suppress(OSError):
            while True:
                filling.append(os.open(os.devnull, os.O_RDONLY))
        for _number in range(int(wanted)):
            os.close(filling.pop())
        # Workers do not inherit them: it is the supervisor that has none left.
        taken.update(filling)
        own.update(taken)
    os.replace(LACKING, LACKING + ".done")


exhausted, taken = [False], set[int]()
os.fork = fork_unless_exhausted
resource.setrlimit(resource.RLIMIT_NOFILE, (128, 128))
signal.signal(signal.SIGUSR2, change)
runpy.run_path(os.environ["FXLSP_TEST_BOOTSTRAP"], run_name="__main__")
sys.exit()
