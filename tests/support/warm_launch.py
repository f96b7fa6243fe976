"""Have the supervisors of a server forked from a warm process: see :mod:`tests.support.warm_supervisors`."""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fxlsp.engine import process
from fxlsp.engine.launching import launch as really_launch
from tests.support.warm_supervisors import MARK, UNMARKED

WARM = "FXLSP_TEST_WARM"
"""Environment variable that names the socket of the warm process; there is none where it is not set."""

_FXLSP_ON_WARM = Path(__file__).with_name("fxlsp_on_warm.py")
_FORKED = Path(__file__).with_name("forked_supervisor.py")
_WARM_SUPERVISORS = Path(__file__).with_name("warm_supervisors.py")


@contextmanager
def warm_process(folder: Path) -> Iterator[None]:
    """Run the warm process; what is started meanwhile finds it by the environment. Its socket lies in ``folder``.

    It is there at once: who connects waits until torch is imported.
    """
    path = folder / "warm"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen(64)
        one_thread = dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
        warm = subprocess.Popen(
            # As text: a frame of a file would pass for the user's code below a trace.
            [sys.executable, "-c", _WARM_SUPERVISORS.read_text(), str(listener.fileno()), str(process.BOOTSTRAP)],
            pass_fds=[listener.fileno()],
            env={**os.environ, **one_thread, "CUDA_VISIBLE_DEVICES": "", MARK: UNMARKED},
            stdin=subprocess.DEVNULL,
        )
    os.environ[WARM] = str(path)
    try:
        yield
    finally:
        del os.environ[WARM]
        warm.kill()
        warm.wait()


def fxlsp(warm: bool = True) -> list[str]:
    """The command ``fxlsp``; unless ``warm``, one that starts its supervisors as for a user."""
    return [sys.executable, *([str(_FXLSP_ON_WARM)] if warm and WARM in os.environ else ["-m", "fxlsp"])]


def install() -> None:
    """Have every supervisor under this interpreter forked from the warm process, if there is one."""
    setattr(process, "launch", launch)  # noqa: B010  # the module has it from another one


async def launch(python: str, bootstrap: Path, theirs: socket.socket) -> asyncio.subprocess.Process:
    """In the place of :func:`fxlsp.engine.launching.launch`."""
    if not (WARM in os.environ and python == sys.executable and bootstrap == process.BOOTSTRAP):
        return await really_launch(python, bootstrap, theirs)
    return await asyncio.create_subprocess_exec(
        *command(theirs.fileno()),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
        pass_fds=(theirs.fileno(),),
        start_new_session=True,
        cwd=os.sep,
    )


def command(descriptor: int) -> list[str]:
    """What stands for ``python bootstrap.py DESCRIPTOR``."""
    return [sys.executable, "-I", "-S", str(_FORKED), str(descriptor)]
