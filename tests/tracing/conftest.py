"""Fixtures: workers that trace with torch, and model files."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from tests.support.worker import Worker


class SharedWorker:
    """Worker that all tests of a session use, until one of them loses it: the next test has another."""

    def __init__(self, start: Callable[[], Worker]) -> None:
        self._start = start
        self._worker: Worker | None = None

    def get(self) -> Worker:
        if self._worker is not None and self._worker.is_lost:
            # The test that lost it has failed with its stacks.
            with suppress(AssertionError):
                self.close()
        if self._worker is None:
            self._worker = self._start()
        return self._worker

    def close(self) -> None:
        """
        Raises:
            AssertionError: it does not exit.
        """
        worker, self._worker = self._worker, None
        if worker is not None:
            worker.close()


@pytest.fixture(scope="session")
def forking_workers(warm: None) -> Iterator[SharedWorker]:
    shared = SharedWorker(lambda: Worker(warm=True))
    shared.get()
    yield shared
    shared.close()


@pytest.fixture(scope="session")
def spawning_workers() -> Iterator[SharedWorker]:
    shared = SharedWorker(lambda: Worker(spawn=True))
    shared.get()
    yield shared
    shared.close()


@pytest.fixture
def worker(forking_workers: SharedWorker) -> Worker:
    return forking_workers.get()


@pytest.fixture
def spawning_worker(spawning_workers: SharedWorker) -> Worker:
    return spawning_workers.get()


@pytest.fixture(params=["worker", "spawning_worker"])
def any_worker(request: pytest.FixtureRequest) -> Worker:
    """Return a worker of each kind: forked and spawned."""
    worker: Worker = request.getfixturevalue(request.param)
    return worker


@pytest.fixture
def write(tmp_path: Path) -> Callable[..., str]:
    """Return a function that writes a model file and returns its path."""

    def write(text: str, name: str = "model.py") -> str:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(textwrap.dedent(text), encoding="utf-8")
        return str(path)

    return write
