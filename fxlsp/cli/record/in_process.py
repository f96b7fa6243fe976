"""Recording of the process that asks for it: a script, a notebook, a run of tests."""

from __future__ import annotations

import os

from fxlsp.cli.record.destination import destination_of
from fxlsp.recording.recording_file import RecordingError
from fxlsp.recording.session import OPTIONS, RecordingOptions, RecordingSession

_sessions: list[RecordingSession] = []
"""The recording of this process, if it has one."""


def record_process(file: str | None = None, source: str = "") -> None:
    """Record this process from now on; nothing happens if it is recorded already.

    Args:
        file: path of the recording; None is the one in the user's cache folder.
        source: name of the program; "" for that of the script.

    Raises:
        ValueError: ``file`` is something else than a recording.
    """
    if _sessions or os.environ.get(OPTIONS):
        return
    try:
        destination = destination_of(os.getcwd(), file)
    except RecordingError as error:
        raise ValueError(str(error)) from error
    session = RecordingSession(RecordingOptions(destination.file, destination.folder, source))
    _sessions.append(session)
    session.start()


def stop_recording() -> None:
    """End the recording of this process and save it, before the end of the program."""
    while _sessions:
        _sessions.pop().stop()
