"""Places of recordings: in the user's cache folder, and as a part of the workspace."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from fxlsp.engine.storage.project_folder import marked_folder
from fxlsp.engine.storage.user_dirs import cache_folder, folder_digest
from fxlsp.recording.recording_file import NAME_IN_WORKSPACE

WORKSPACE_PATTERN = f"**/{NAME_IN_WORKSPACE}"
"""Glob pattern of the recordings that are part of a workspace."""

_MOST_FOLDERS = 16


def recorded_folder(start: str) -> str:
    """Return the folder whose classes a program is recorded for, if it is started in ``start``.

    It is the project's, else ``start`` itself.
    """
    real = os.path.realpath(start)
    return marked_folder(os.path.join(real, "_")) or real


def recording_path(folder: str) -> str:
    """Return the path of the user's own recording of a folder."""
    return str(cache_folder() / f"recording-{folder_digest(folder)}.json")


def recordings_around(path: str) -> Iterator[tuple[str, str]]:
    """Yield ``(recording, folder)`` for each place that may have a recording of a file, the nearest folder first.

    Outside the project only the user's own recordings count: anybody may write a file to a shared folder.
    """
    real = os.path.realpath(path)
    project = marked_folder(real) or os.path.dirname(real)
    for folder in [str(each) for each in Path(real).parents][:_MOST_FOLDERS]:
        yield recording_path(folder), folder
        if folder == project or folder.startswith(os.path.join(project, "")):
            yield os.path.join(folder, NAME_IN_WORKSPACE), folder
