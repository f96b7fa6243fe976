"""``fxlsp record``: runs a command, and notes how it makes and calls the modules of the workspace."""

from __future__ import annotations

import argparse
import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

from fxlsp.cli.exit_codes import UsageError
from fxlsp.cli.record.destination import Destination, destination_of
from fxlsp.ide.render.numbers import counted
from fxlsp.recording.recording_file import RecordedInstance, RecordingError, read_recording
from fxlsp.recording.session import OPTIONS, RecordingOptions, startup_folder

_EXAMPLES = """\
examples:
  fxlsp record -- python train.py --epochs 1
  fxlsp record --enough -- python -m package.train
  fxlsp record -o fxlsp-recording.json -- pytest tests
"""

_ENOUGH_SECONDS = 10.0
_POLL_SECONDS = 0.1
_GRACE_SECONDS = 5.0
"""Time that a command has to end after each request."""
_PYTHONS = ("python", "python3")
_ENDED_BY_SIGNAL = 128
"""What a shell adds to the number of a signal that ended a program."""


def add_parser(commands: Any) -> None:
    parser = commands.add_parser(
        "record",
        help="run a command, and note how it makes and calls its models",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("-o", dest="output", metavar="FILE", help="write to FILE, not to the user's cache")
    parser.add_argument(
        "--enough",
        metavar="SECONDS",
        nargs="?",
        type=float,
        const=_ENOUGH_SECONDS,
        help="end the command once nothing new has come for so long, by default 10 seconds",
    )
    parser.add_argument(
        "--python",
        metavar="PATH",
        help="the interpreter for which python stands in COMMAND; programs of its folder come before others",
    )
    parser.add_argument("command", metavar="COMMAND", nargs=argparse.REMAINDER, help="behind --: python train.py")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        raise UsageError("give a command to record: fxlsp record -- python train.py")
    try:
        destination = destination_of(os.getcwd(), arguments.output)
    except RecordingError as error:
        raise UsageError(f"{error}; name another file") from error
    began = time.time()
    python = None if arguments.python is None else _interpreter(arguments.python)
    environment = _environment(destination, python)
    program = _program(command[0], python, environment)
    try:
        process = subprocess.Popen([program, *command[1:]], env=environment)
    except OSError as error:
        raise UsageError(f"cannot run {command[0]}: {error.strerror or error}") from error
    with _signals_for(process):
        code = _wait(process, destination.file, arguments.enough)
    _report(destination, began)
    return code


def _interpreter(name: str) -> str:
    """Return the absolute path of the interpreter that is named.

    Raises:
        UsageError: there is none.
    """
    found = shutil.which(name)
    if found is None:
        raise UsageError(f"there is no program {name}: give the path of an interpreter to --python")
    return os.path.abspath(found)


def _program(name: str, python: str | None, environment: dict[str, str]) -> str:
    """Return the path of the program that a command runs; its name where there is none of it."""
    if python is not None and name in _PYTHONS:
        return python
    return shutil.which(name, path=environment.get("PATH")) or name


def _environment(destination: Destination, python: str | None) -> dict[str, str]:
    """Return the environment in which Python starts the recorder before a program.

    Args:
        python: interpreter whose programs come before those of the same name.
    """
    others, path = os.environ.get("PYTHONPATH"), os.environ.get("PATH")
    folders = [] if python is None else [os.path.dirname(python)]
    return {
        **os.environ,
        **({"PATH": os.pathsep.join([*folders, *([path] if path else [])])} if folders else {}),
        OPTIONS: RecordingOptions(destination.file, destination.folder).to_text(),
        "PYTHONPATH": os.pathsep.join([startup_folder(), *([others] if others else [])]),
    }


@contextlib.contextmanager
def _signals_for(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """Leave Ctrl-C to the command, which the terminal sends it to as well; pass on a request to end."""
    before = {signal.SIGINT: signal.signal(signal.SIGINT, signal.SIG_IGN)}
    before[signal.SIGTERM] = signal.signal(signal.SIGTERM, lambda *_: process.terminate())
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _wait(process: subprocess.Popen[bytes], file: str, enough: float | None) -> int:
    """Return the command's exit code; 0 if it was ended because enough was recorded."""
    if enough is None:
        return _exit_code(process.wait())
    first = version = _version(file)
    last_news = time.monotonic()
    while True:
        with contextlib.suppress(subprocess.TimeoutExpired):
            return _exit_code(process.wait(_POLL_SECONDS))
        if _version(file) != version:
            version, last_news = _version(file), time.monotonic()
        if version != first and time.monotonic() - last_news >= enough:
            _end(process)
            return 0


def _version(file: str) -> tuple[int, int] | None:
    try:
        status = os.stat(file)
    except OSError:
        return None
    return status.st_mtime_ns, status.st_ino


def _end(process: subprocess.Popen[bytes]) -> None:
    """End a command as Ctrl-C would, so that it can clean up; by force if it does not."""
    for number in (signal.SIGINT, signal.SIGTERM):
        # Windows has no way to send the first to one process.
        with contextlib.suppress(subprocess.TimeoutExpired, ValueError):
            process.send_signal(number)
            process.wait(_GRACE_SECONDS)
            return
    process.kill()
    process.wait()


def _exit_code(code: int) -> int:
    return _ENDED_BY_SIGNAL - code if code < 0 else code


def _report(destination: Destination, began: float) -> None:
    """Write on standard error what was recorded: standard output is the command's."""
    try:
        found = [each for each in read_recording(destination.file) if each.time >= began]
    except (FileNotFoundError, RecordingError):
        found = []
    sys.stderr.write(f"fxlsp: {_summary(found, destination)}\n")


def _summary(found: list[RecordedInstance], destination: Destination) -> str:
    if not found:
        return f"nothing was recorded: the command made no module of a class in {destination.folder}"
    classes = {(each.file, each.name) for each in found}
    fed = {(each.file, each.name) for each in found if each.calls}
    return f"recorded {counted(len(classes), 'model')}, {len(fed)} with inputs, in {destination.file}"
