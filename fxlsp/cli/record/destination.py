"""Where a run is recorded. Light, since programs that record themselves import it."""

from __future__ import annotations

import contextlib
import os
from dataclasses import dataclass

from fxlsp.engine.storage.recordings import recorded_folder, recording_path
from fxlsp.recording.recording_file import RecordingError, read_recording


@dataclass(frozen=True)
class Destination:
    """File of a recording, and the workspace folder that it is about."""

    file: str
    folder: str


def destination_of(start: str, output: str | None = None) -> Destination:
    """Return where a program that is started in a folder is recorded.

    A recording in the user's cache that is damaged is put aside.

    Args:
        output: file that the user has named; None is the one in the cache.

    Raises:
        RecordingError: the user has named a file that is something else.
    """
    folder = recorded_folder(start)
    file = recording_path(folder) if output is None else os.path.abspath(output)
    try:
        read_recording(file)
    except FileNotFoundError:
        pass
    except RecordingError:
        if output is not None:
            raise
        with contextlib.suppress(OSError):
            os.replace(file, f"{file}.damaged")
    return Destination(file, folder)
