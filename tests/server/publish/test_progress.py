"""The display of work in progress, at the end of a session."""

from __future__ import annotations

import asyncio
from typing import Any, cast

import pytest
from lsprotocol import types

from fxlsp.engine.running.engine import SnapshotChange
from fxlsp.engine.state.snapshot import ModelKey, ModelState, Snapshot, Status
from fxlsp.server.main import make_server
from fxlsp.server.publish.progress import Progress

KEY = ModelKey("python", "/project/net.py", "Net", None)
SHOWS_PROGRESS = types.ClientCapabilities(window=types.WindowClientCapabilities(work_done_progress=True))


class _Session:
    """Session in which a trace is under way until the end."""

    snapshot = Snapshot(models={KEY: ModelState(KEY, Status.RUNNING)})

    async def shutdown(self) -> None:
        """There is no process to stop."""


async def test_a_display_that_is_due_when_the_session_ends_is_not_shown(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("fxlsp.server.publish.progress.DELAY_SECONDS", 0.0)
    server = make_server()
    server.start_session(types.InitializeParams(capabilities=SHOWS_PROGRESS), cast(Any, _Session()))
    before = asyncio.all_tasks()
    Progress(server).update(SnapshotChange("session"))
    (display,) = asyncio.all_tasks() - before
    await server.close()
    await display
    assert caplog.records == []
