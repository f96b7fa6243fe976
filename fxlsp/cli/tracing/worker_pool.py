"""The supervisors of one command: one an interpreter, stopped at its end."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fxlsp.engine.connection.connection import Outcome
from fxlsp.engine.connection.supervisor_client import SupervisorClient
from fxlsp.engine.running.schedule import default_limit
from fxlsp.report.report import Environment
from fxlsp.wire.messages import TraceRequest


class TracePool:
    """Traces under any number of interpreters, ``jobs`` traces at once."""

    def __init__(self, jobs: int) -> None:
        self._supervisors: dict[str, SupervisorClient] = {}
        self._slots = asyncio.Semaphore(jobs)

    @property
    def environment(self) -> Environment | None:
        """The versions of the first interpreter that could be started."""
        known = (supervisor.environment for supervisor in self._supervisors.values())
        return next((environment for environment in known if environment is not None), None)

    async def trace(self, python: str, request: TraceRequest) -> Outcome:
        """Trace one model under ``python``, when a slot is free."""
        supervisor = self._supervisors.setdefault(python, SupervisorClient(python))
        async with self._slots:
            return await supervisor.trace(request)

    async def close(self) -> None:
        await asyncio.gather(*(supervisor.close() for supervisor in self._supervisors.values()))


@asynccontextmanager
async def open_pool(jobs: int | None = None) -> AsyncIterator[TracePool]:
    """Open a pool, which is closed at the end.

    Args:
        jobs: traces at once; by default one fewer than there are cores.
    """
    made = TracePool(jobs or default_limit())
    try:
        yield made
    finally:
        await made.close()
