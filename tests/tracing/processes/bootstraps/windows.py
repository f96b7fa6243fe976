"""A worker without what Windows lacks, as far as Python itself lets go of it."""

from __future__ import annotations

import os
import runpy
import selectors
import signal
import socket
import subprocess
import sys
from typing import Any

BOOTSTRAP = os.environ["FXLSP_TEST_BOOTSTRAP"]
LACKING = ("fork", "getpgrp", "killpg", "nice", "set_blocking", "setpgid", "setsid")


class SocketSelector(selectors.SelectSelector):
    """Waits for sockets alone."""

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        descriptor = fileobj if isinstance(fileobj, int) else fileobj.fileno()
        socket.socket(fileno=os.dup(descriptor)).close()
        return super().register(fileobj, events, data)


class Popen(subprocess.Popen[Any]):
    """Starts Python programs as this one is, with their standard streams alone."""

    def __init__(self, args: Any, *others: Any, **options: Any) -> None:
        if BOOTSTRAP in args:
            assert set(options) <= {"stdin", "stdout", "stderr"}
            args = [__file__ if each == BOOTSTRAP else each for each in args]
        super().__init__(args, *others, **options)


for name in LACKING:
    vars(os).pop(name, None)
for name in ("SIGUSR1", "SIGALRM", "SIGPROF", "alarm", "setitimer", "pthread_sigmask"):
    delattr(signal, name)
selectors.DefaultSelector = SocketSelector  # type: ignore[assignment, misc]
subprocess.Popen = Popen  # type: ignore[misc]
runpy.run_path(BOOTSTRAP, run_name="__main__")
sys.exit()
