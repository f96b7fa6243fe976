"""Recording of the present process: from its start to the file, at the end of the program or before."""

from __future__ import annotations

import atexit
import json
import os
import sys
import time
from dataclasses import asdict, dataclass

from .observation import Observation
from .recorder import Recorder
from .recording_file import RecordingError, merge_into
from .references import RecordedFolder

OPTIONS = "FXLSP_RECORD"
"""Environment variable with the :class:`RecordingOptions` for programs that ``fxlsp record`` starts."""

_SAVE_SECONDS = 1.0
"""Age at which a note is saved: a program that is killed loses what is newer."""


@dataclass(frozen=True)
class RecordingOptions:
    """What to record, and where."""

    file: str
    """Absolute path of the recording."""
    folder: str
    """Workspace folder: classes of its files are recorded."""
    source: str = ""
    """Name of the program; "" for that of the running one."""

    def to_text(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def from_text(cls, text: str) -> RecordingOptions:
        return cls(**json.loads(text))


class RecordingSession:
    """Recorder of this process, with the file that it writes."""

    def __init__(self, options: RecordingOptions) -> None:
        workspace = RecordedFolder(options.folder)
        self._options = options
        self._recorder = Recorder(workspace, lambda: options.source or program_name(workspace))
        self._observation = Observation(self._recorder, self._save_when_due)
        self._saved_changes = 0
        self._due: float | None = None
        """When the oldest note that is not saved becomes due."""
        self._error: str | None = None
        self._is_open = False

    def start(self) -> None:
        self._is_open = True
        atexit.register(self.stop)
        if hasattr(os, "register_at_fork"):
            os.register_at_fork(after_in_child=self._leave)
        self._observation.start()

    def stop(self) -> None:
        """Save, and end the recording; a second call does nothing."""
        if not self._is_open:
            return
        self._is_open = False
        self._observation.stop()
        atexit.unregister(self.stop)
        self._save()
        if self._error is not None:
            sys.stderr.write(f"fxlsp: nothing was recorded: {self._error}\n")

    def _leave(self) -> None:
        """Stop in a process that was forked, such as a worker of a ``DataLoader``: its parent records."""
        if self._is_open:
            self._is_open = False
            atexit.unregister(self.stop)
            self._observation.stop()

    def _save_when_due(self) -> None:
        if self._recorder.changes == self._saved_changes:
            return
        now = time.monotonic()
        if self._due is None:
            self._due = now + _SAVE_SECONDS
        if now >= self._due or not self._recorder.is_watching:
            self._save()

    def _save(self) -> None:
        changes = self._recorder.changes
        self._due = None
        if changes == self._saved_changes:
            return
        # A file that cannot be written is not tried again and again.
        self._saved_changes = changes
        try:
            merge_into(self._options.file, self._recorder.instances(), self._options.folder)
            self._error = None
        except OSError as error:
            self._error = f"{self._options.file} cannot be written: {error.strerror or error}"
        except RecordingError as error:
            self._error = str(error)
        except Exception as error:
            # An error of the recorder is none of the program's.
            self._error = f"{type(error).__name__}: {error}"


def startup_folder() -> str:
    """Return the folder that starts the recorder in a program that has it in its ``PYTHONPATH``."""
    return os.path.join(os.path.dirname(os.path.abspath(__file__)), "startup")


def program_name(workspace: RecordedFolder) -> str:
    """Return the name of the running program, without its arguments: they may contain secrets."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    name = getattr(spec, "name", None)
    if isinstance(name, str) and name:
        return name.removesuffix(".__main__")
    argument = sys.argv[0] if getattr(sys, "argv", None) else ""
    return workspace.path_of(argument) or os.path.basename(argument) or "python"


def start_from_environment() -> RecordingSession | None:
    """Start the recording that the environment asks for; None if it asks for none."""
    text = os.environ.get(OPTIONS)
    if not text:
        return None
    session = RecordingSession(RecordingOptions.from_text(text))
    session.start()
    return session
