"""Refresh requests for lenses, hints and pulled problems.

Each kind has one request under way at most; changes meanwhile lead to one more after it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence

from pygls.exceptions import JsonRpcException

from fxlsp.engine.running.engine import SnapshotChange
from fxlsp.engine.state.snapshot import Snapshot
from fxlsp.server.shared.server import Server

SendRequest = Callable[[None], Awaitable[None]]


class Refresher:
    """Publisher of refresh requests, sent when the inputs of lenses or hints change."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._lenses = _CoalescedRequest(server.workspace_code_lens_refresh_async)
        self._hints = _CoalescedRequest(server.workspace_inlay_hint_refresh_async)
        self._diagnostics = _CoalescedRequest(server.workspace_diagnostic_refresh_async)
        self._inputs: tuple[Sequence[object], Sequence[object]] = ((), ())

    def update(self, _: SnapshotChange) -> None:
        """Follow a change of the session.

        Edits alone need no request: an editor requests everything again after its own edits.
        """
        snapshot = self._server.engine.snapshot
        reports, states = _reports(snapshot), _lens_states(snapshot)
        old_reports, old_states = self._inputs
        self._inputs = (reports, states)
        new_reports = not _same(reports, old_reports)
        if self._server.support.hint_refresh and new_reports:
            self._hints.request()
        if self._server.support.lens_refresh and (new_reports or not _same(states, old_states)):
            self._lenses.request()

    def diagnostics(self) -> None:
        self._diagnostics.request()

    def hints(self) -> None:
        self._hints.request()


class _CoalescedRequest:
    """Request that is not sent again before it is answered."""

    def __init__(self, send: SendRequest) -> None:
        self._send = send
        self._task: asyncio.Task[None] | None = None
        self._is_repeated = False

    def request(self) -> None:
        if self._task is not None and not self._task.done():
            self._is_repeated = True
        else:
            self._task = asyncio.ensure_future(self._run())

    async def _run(self) -> None:
        self._is_repeated = True
        while self._is_repeated:
            self._is_repeated = False
            try:
                await self._send(None)
            except JsonRpcException:
                return


def _reports(snapshot: Snapshot) -> list[object]:
    """Return the inputs of hints, and of the texts of lenses."""
    parts: list[object] = [*snapshot.hints.values(), *snapshot.instances.values()]
    parts += (state.report for state in snapshot.models.values())
    parts += (answer for state in snapshot.asked for answer in state.frontends if answer.verdict.batch is not None)
    return parts


def _lens_states(snapshot: Snapshot) -> list[object]:
    """Return the other inputs of the texts of lenses."""
    parts: list[object] = [snapshot.trusted, *snapshot.untrusted, *(each.failure for each in snapshot.interpreters)]
    for state in snapshot.models.values():
        # The key changes with the recipe, `found` with the recipes to choose from.
        parts += (state.key, state.found, state.pinned, state.failure, state.frontends)
        parts.append(state.report is None and state.busy)
    return parts


def _same(one: Sequence[object], other: Sequence[object]) -> bool:
    """Return whether two sequences hold identical objects.

    Reports are too large to be compared by content.
    """
    return len(one) == len(other) and all(mine is theirs for mine, theirs in zip(one, other, strict=True))
