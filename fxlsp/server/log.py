"""The log: ``window/logMessage`` once there is an editor, standard error before."""

from __future__ import annotations

import asyncio
import logging

from lsprotocol import types

from fxlsp.engine.running.engine import SnapshotChange
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.ide.status import interpreter_text, profile_text
from fxlsp.server.shared.server import Server

_LEVELS = (
    (logging.ERROR, types.MessageType.Error),
    (logging.WARNING, types.MessageType.Warning),
    (logging.INFO, types.MessageType.Info),
)

log = logging.getLogger("fxlsp")


class EditorHandler(logging.Handler):
    """Handler that sends fxlsp's own log records to the editor, from any thread."""

    def __init__(self, server: Server) -> None:
        super().__init__()
        self._server = server
        self._loop = asyncio.get_running_loop()

    def emit(self, record: logging.LogRecord) -> None:
        kind = next((kind for level, kind in _LEVELS if record.levelno >= level), types.MessageType.Log)
        params = types.LogMessageParams(type=kind, message=self.format(record))
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._server.window_log_message, params)


def log_to_editor(server: Server) -> None:
    """Send fxlsp's own log records to the editor only, from now on.

    Records of pygls stay on standard error.
    """
    log.setLevel(logging.INFO)
    log.propagate = False
    log.handlers = [EditorHandler(server)]


class SnapshotLogger:
    """Logs news of the session, each text once.

    These are the profile of each folder and its reason, the interpreters and their torch, why one cannot trace, and
    errors in the settings. What prevents a whole folder from being traced is also shown to the user: no line of a file
    could show it.
    """

    def __init__(self, server: Server) -> None:
        self._server = server
        self._logged: set[str] = set()

    def update(self, _: SnapshotChange) -> None:
        """Follow a change of the session."""
        snapshot = self._server.engine.snapshot
        for text in _log_texts(snapshot):
            self._log_once(logging.INFO, text)
        for problem in snapshot.setting_problems:
            self._log_once(logging.WARNING, problem.message)
        for state in snapshot.interpreters:
            if state.failure is not None and self._log_once(logging.ERROR, state.failure.message):
                params = types.ShowMessageParams(type=types.MessageType.Error, message=state.failure.message)
                self._server.window_show_message(params)

    def _log_once(self, level: int, text: str) -> bool:
        """Log a text unless it was logged before; return whether it is new."""
        is_new = text not in self._logged
        if is_new:
            self._logged.add(text)
            log.log(level, "%s", text)
        return is_new


def _log_texts(snapshot: Snapshot) -> list[str]:
    profiles = [profile_text(folder, policy) for folder, policy in snapshot.policies.items() if policy.reason]
    return [*profiles, *(text for state in snapshot.interpreters if (text := interpreter_text(state)) is not None)]
