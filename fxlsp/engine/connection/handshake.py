"""Start of a supervisor, up to its ``hello`` or the one reason why there is none."""

from __future__ import annotations

import asyncio
import errno
from concurrent.futures import Executor
from pathlib import Path

from fxlsp.engine.connection.connection import Connection
from fxlsp.engine.connection.crash_failures import describe_exit
from fxlsp.engine.connection.process import Process
from fxlsp.report.codes import NO_INTERPRETER
from fxlsp.report.problems import Failure
from fxlsp.wire.frames import WireError
from fxlsp.wire.messages import PROTOCOL, WIRE, Hello, Refused
from fxlsp.wire.vocabulary import UnknownMessage, WireMessage

_ADVICE = "Choose another interpreter (setting 'python'), or repair this one."

_EXHAUSTED = (errno.EMFILE, errno.ENFILE, errno.EAGAIN, errno.ENOMEM, errno.ENOSPC)
"""Errors of a system that has no more of something: the interpreter is not the cause."""
_RESOURCE_ADVICE = "The system has no resources left for it: close programs, then run fxlsp.restart."


class StartError(Exception):
    """Error for an interpreter under which no supervisor can be started."""

    def __init__(self, message: str, lost: bool = False, is_late: bool = False) -> None:
        """
        Args:
            lost: whether another process or the system has killed the process, so that another start may succeed.
            is_late: whether the process did not answer in time.
        """
        super().__init__(message)
        self.lost = lost
        self.is_late = is_late
        self.failure = Failure("", NO_INTERPRETER, message)

    @classmethod
    def of(cls, failure: Failure) -> StartError:
        return cls(failure.message)


async def connect(python: str, bootstrap: Path, executor: Executor | None, seconds: float) -> Connection:
    """Start a supervisor under ``python`` and wait for its ``hello``.

    Args:
        seconds: limit of the time from the start to the ``hello``.

    Raises:
        StartError: there was no ``hello``; the process has ended.
    """
    try:
        process = await Process.start(python, bootstrap, executor)
    except OSError as error:
        advice = _RESOURCE_ADVICE if error.errno in _EXHAUSTED else _ADVICE
        raise StartError(f"The interpreter {python} cannot be run: {error.strerror or error}. {advice}") from error
    try:
        hello = _checked_hello(await _receive_hello(process, python, seconds), python)
    except BaseException:
        process.kill()
        await process.stop()
        raise
    return Connection(process, hello, executor)


async def _receive_hello(process: Process, python: str, seconds: float) -> WireMessage:
    try:
        message = await asyncio.wait_for(process.stream.receive(), seconds)
        if message is not None:
            return WIRE.parse(message)
    except asyncio.TimeoutError:
        text = f"The interpreter {python} did not finish importing torch within {seconds:g} s."
        raise StartError(f"{text}{_last_output(process)} {_ADVICE}", is_late=True) from None
    except WireError as error:
        raise StartError(f"The worker under {python} does not use fxlsp's protocol ({error}). {_ADVICE}") from error
    raise await _exit_error(process, python)


async def _exit_error(process: Process, python: str) -> StartError:
    await process.wait(1.0)
    await process.drain_output()
    text = f"The interpreter {python} cannot run fxlsp's tracing worker: it ended with"
    needs = "fxlsp traces with Python 3.10 or later and torch."
    message = f"{text} {describe_exit(process.exit_code)}. {needs}{_last_output(process)} {_ADVICE}"
    return StartError(message, process.was_lost)


def _last_output(process: Process) -> str:
    return f" Its last output: {process.tail[-1]}." if process.tail else ""


def _checked_hello(message: WireMessage, python: str) -> Hello:
    """Return the ``hello`` with which a supervisor must start.

    Raises:
        StartError: it is another message, or of another version of the protocol.
    """
    if isinstance(message, Refused):
        raise StartError(message.message or f"The interpreter {python} refuses to trace. {_ADVICE}")
    if not isinstance(message, Hello):
        received = message.name if isinstance(message, UnknownMessage) else message.type
        raise StartError(f"The worker under {python} sent {received!r} instead of 'hello'. {_ADVICE}")
    if message.protocol != PROTOCOL:
        versions = f"version {PROTOCOL} of its protocol, the worker under {python} version {message.protocol}"
        raise StartError(f"fxlsp speaks {versions}: parts of two installations are mixed. Install fxlsp anew.")
    return message
