"""Progress of work over half a second: importing torch, long traces, other front ends that the user asks."""

from __future__ import annotations

import asyncio
import itertools

from lsprotocol import types
from pygls.exceptions import JsonRpcException

from fxlsp.engine.running.engine import SnapshotChange
from fxlsp.engine.state.snapshot import Snapshot, Status
from fxlsp.server.shared.server import Server

DELAY_SECONDS = 0.5
"""Seconds after which work is shown."""


def register(server: Server) -> None:
    @server.feature(types.WINDOW_WORK_DONE_PROGRESS_CANCEL)
    def cancel(_: types.WorkDoneProgressCancelParams) -> None:
        """Cancel all work: one display shows everything that is under way."""
        server.engine.stop()


class Progress:
    """Publisher of one progress display while any work is under way."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._numbers = itertools.count(1)
        self._display: asyncio.Task[None] | None = None
        self._changed = asyncio.Event()

    def update(self, _: SnapshotChange) -> None:
        """Follow a change of the session."""
        self._changed.set()
        if self._server.support.progress and self._display is None and work_text(self._server.engine.snapshot):
            self._display = asyncio.ensure_future(self._show())
            self._display.add_done_callback(self._ended)

    def _ended(self, _: asyncio.Task[None]) -> None:
        self._display = None

    async def _show(self) -> None:
        await asyncio.sleep(DELAY_SECONDS)
        text = self._work()
        if text is None:
            return
        token = f"fxlsp-{next(self._numbers)}"
        create = types.WorkDoneProgressCreateParams(token=token)
        try:
            await self._server.window_work_done_progress_create_async(create)
        except JsonRpcException:
            return
        self._send(token, types.WorkDoneProgressBegin(title="fxlsp", message=text, cancellable=True))
        while (present := await self._next()) is not None:
            if present != text:
                self._send(token, types.WorkDoneProgressReport(message=present))
            text = present
        self._send(token, types.WorkDoneProgressEnd())

    async def _next(self) -> str | None:
        self._changed.clear()
        if self._work() is not None:
            await self._changed.wait()
        return self._work()

    def _work(self) -> str | None:
        # The session may have ended while the display was due.
        return work_text(self._server.engine.snapshot) if self._server.has_session else None

    def _send(
        self,
        token: str,
        value: types.WorkDoneProgressBegin | types.WorkDoneProgressReport | types.WorkDoneProgressEnd,
    ) -> None:
        self._server.progress(types.ProgressParams(token=token, value=value))


def work_text(snapshot: Snapshot) -> str | None:
    """Return what is under way, None if nothing is."""
    running = [state.key.name for state in snapshot.models.values() if state.status is Status.RUNNING]
    if running:
        return f"tracing {', '.join(dict.fromkeys(running))}"
    asking = [f"torch.{state.asking} about {state.key.name}" for state in snapshot.models.values() if state.asking]
    if asking:
        return f"asking {asking[0]}"
    starting = [state.interpreter for state in snapshot.interpreters if state.busy and state.interpreter is not None]
    return f"starting {starting[0].path}" if starting else None
