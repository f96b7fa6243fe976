"""The supervisors of a session: one per interpreter, shared by its folders."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Container
from concurrent.futures import Executor
from pathlib import Path

from fxlsp.engine.connection.process import BOOTSTRAP
from fxlsp.engine.connection.supervisor_client import IDLE_SECONDS, SupervisorClient


class SupervisorPool:
    """Creates supervisors on demand and closes those that no folder uses any more."""

    def __init__(
        self,
        executor: Executor,
        on_change: Callable[[], None],
        bootstrap: Path = BOOTSTRAP,
        idle_seconds: float = IDLE_SECONDS,
    ) -> None:
        self._idle_seconds = idle_seconds
        self._executor = executor
        self._on_change = on_change
        self._bootstrap = bootstrap
        self._by_python: dict[str, SupervisorClient] = {}
        self._closing: set[asyncio.Task[None]] = set()

    def get(self, python: str) -> SupervisorClient:
        """Return the supervisor of an interpreter.

        Its process starts with the first trace.
        """
        if python not in self._by_python:
            self._by_python[python] = SupervisorClient(
                python,
                bootstrap=self._bootstrap,
                executor=self._executor,
                on_change=self._on_change,
                idle_seconds=self._idle_seconds,
            )
        return self._by_python[python]

    def existing(self, python: str) -> SupervisorClient | None:
        return self._by_python.get(python)

    def close_others(self, pythons: Container[str]) -> None:
        """Close the supervisors of all other interpreters, in the background."""
        for python in [python for python in self._by_python if python not in pythons]:
            task = asyncio.create_task(self._by_python.pop(python).close())
            self._closing.add(task)
            task.add_done_callback(self._closing.discard)

    async def restart(self) -> None:
        await asyncio.gather(*(supervisor.restart() for supervisor in self._by_python.values()))

    async def close(self) -> None:
        """Close all supervisors."""
        self.close_others(())
        await asyncio.gather(*self._closing, return_exceptions=True)
