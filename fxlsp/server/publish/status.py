"""``fxlsp/status``: the status of the session, for editors that show it.

Sent on each change, to editors that announce the experimental capability ``fxlspStatus``. Others have the progress
display and the log.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fxlsp.engine.running.engine import SnapshotChange
from fxlsp.engine.state.snapshot import ModelState, Snapshot, Status
from fxlsp.ide.status import interpreter_facts
from fxlsp.server.shared.server import Server

STATUS = "fxlsp/status"


class StatusFeed:
    """Publisher of the status, each state once."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._sent: dict[str, Any] = {}

    def update(self, _: SnapshotChange) -> None:
        """Follow a change of the session."""
        status = status_of(self._server.engine.snapshot)
        if self._server.support.shows_status and status != self._sent:
            self._sent = status
            self._server.protocol.notify(STATUS, status)


def status_of(snapshot: Snapshot) -> dict[str, Any]:
    """Return ``{"trusted", "interpreters", "tracing", "stale"}``.

    ``tracing`` names the models whose trace waits or runs, ``stale`` those whose answers are of an earlier text while
    no trace waits or runs. Of each interpreter: its folder, path, why it was chosen, versions once it has started,
    whether it is being started, and why it cannot trace.
    """
    states = snapshot.models.values()
    return {
        "trusted": snapshot.trusted,
        "interpreters": [interpreter_facts(each) for each in snapshot.interpreters],
        "tracing": _names(state for state in states if state.busy),
        "stale": _names(state for state in states if _is_left_behind(state)),
    }


def _is_left_behind(state: ModelState) -> bool:
    """Return whether outdated answers are shown that no trace will replace."""
    shows_nothing = state.report is None or state.status is Status.UNKNOWN
    return not shows_nothing and state.is_stale and not state.busy


def _names(states: Iterable[ModelState]) -> list[str]:
    return sorted({state.key.name for state in states})
